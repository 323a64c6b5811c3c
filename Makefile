# make run   sets up, builds, and opens the window on a sample painting (without a display: does the same job headless)
# make check is for every change: formatting, static checks, short tests; to take at most two minutes
# make test  sets up and runs what every commit must pass; to take at most ten minutes on two cores; .ci/run calls it
# make test-all runs every test there is
# make help  lists the rest

GO      ?= go
# Vector kernels need it. One setting is used for everything, so that each package is compiled only once. No file of a
# module can set it: a go test without make runs internal/simd/tested/plain, which makes up for it.
export GOEXPERIMENT ?= simd
# Where the home folder cannot be written, the caches are in build.
CACHES := $(shell GO='$(GO)' scripts/caches.sh)
ifneq ($(CACHES),)
export GOCACHE := $(CACHES)/go
export STATICCHECK_CACHE := $(CACHES)/staticcheck
$(info The home folder cannot be written: compiled packages are kept in $(CACHES))
endif
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -X main.version=$(VERSION)
SAMPLE  := assets/sample.jpg
DISPLAYED := $(or $(DISPLAY),$(WAYLAND_DISPLAY))
# The version comes from git describe; Go's own version stamp fails if the checkout belongs to another user.
BUILD   := build -buildvcs=false -ldflags '$(LDFLAGS)'

comma   := ,

.DEFAULT_GOAL := help
# The steps run one after the other, even with make -j, because each uses all processors.
.NOTPARALLEL:
.PHONY: help run build headless test test-all check static short missing unit watched loops every plain arm64 race fuzz \
	times tiers window bench bench-opencv score accuracy readme setup setup-test go clean train audit

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' Makefile $(wildcard *.mk) | expand -t 14

run: ## set up, build, and open the window on a sample painting with its glare found
ifeq ($(DISPLAYED),)
	@echo "No display: doing the same job without the window."
	@$(MAKE) --no-print-directory headless
	@mkdir -p build/sample
	build/blik-headless detect --marked --overwrite -o build/sample $(SAMPLE)
	@echo "Mask:           build/sample/sample_mask.png"
	@echo "Marked picture: build/sample/sample_marked.png"
	@echo "Findings:       build/sample/sample_findings.csv, build/sample/sample_findings.json"
else
	@$(MAKE) --no-print-directory build
	build/blik open --detect $(SAMPLE)
endif

build: setup gpu ## the program with its window: build/blik
	$(GPU_ENV) $(GO) $(BUILD) $(if $(GPU_TAG),-tags $(GPU_TAG)) -o build/blik .

headless: go gpu ## the program without a window, for servers without X11, Wayland, GL and GTK: build/blik-headless
	$(GPU_ENV) CGO_ENABLED=$(or $(GPU_CGO),0) $(GO) $(BUILD) -tags headless$(if $(GPU_TAG),$(comma)$(GPU_TAG)) -o build/blik-headless .

check: static short ## for every change: gofmt, vet, staticcheck, generated files, short tests without the real window

test: setup-test static unit watched loops ## for every commit: set up and run the tests

test-all: test headless every race plain arm64 fuzz ## every test there is: the slow ones, race detector, other kernels, fuzzing

# With C, unlike the program for servers, so that no package is compiled for this alone.
CHECKED := build/blik-checked

static: missing go gpu
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags headless .
	$(GO) vet -tags headless,nolab .
	$(GO) tool staticcheck ./...
	$(GO) build -buildvcs=false -tags headless -o $(CHECKED) .
	BLIK=$(CHECKED) scripts/readme.sh --check
	@$(CHECKED) version | sed -n 's/^CPU kernels:/Kernels tested: plain to/p'

missing:
	@GO='$(GO)' scripts/missing.sh

# On a busy machine a package may take longer than go test's default limit of ten minutes.
PATIENT := -timeout 30m

short:
	$(GO) test -vet=off $(PATIENT) -short -skip Xvfb ./...

# The real window is tested as it was built.
DRIVEN := BLIK_BINARY=$(CURDIR)/build/blik

# Go vet has already run. The window's tests wait more than they compute, so the others run beside them.
unit: build ## unit, property and golden tests, and the real window
	$(DRIVEN) $(GO) test -vet=off $(PATIENT) ./ui/e2e ./processing/correct ./...

every: build ## also the tests that take long (testpic.Slow)
	BLIK_SLOW=1 $(DRIVEN) $(GO) test -vet=off $(PATIENT) ./ui/e2e ./processing/correct ./...

plain: ## the tests of the loops, built without the experiment that vector kernels need
	GOEXPERIMENT= $(GO) test -vet=off -short ./internal/simd ./processing/cpu/... ./processing/network

arm64: ## the tests of the loops for arm64, under qemu-user
	@if command -v qemu-aarch64-static >/dev/null; then scripts/qemu.sh; else \
		echo "Skipped: the loops for arm64 (there is no qemu-aarch64-static; make setup-dist installs it)"; fi

# Packages without goroutines and locks that take most of the time under the race detector are compiled without it: the
# network's loops, and what draws texts and icons. What calls them is watched. The loops of processing/cpu are watched in
# its own tests only.
TYPESETTING := github.com/go-text/typesetting
UNWATCHED   := blik/processing/network image/color image/draw image/png image/jpeg golang.org/x/image/vector \
	golang.org/x/image/font/... golang.org/x/image/math/... $(TYPESETTING)/font/... $(TYPESETTING)/harfbuzz \
	$(TYPESETTING)/shaping $(TYPESETTING)/language github.com/fyne-io/oksvg github.com/srwiley/rasterx \
	fyne.io/fyne/v2/internal/svg
RACE        := -race $(UNWATCHED:%=-gcflags=%=-race=false)
LOOPS       := -gcflags=blik/processing/cpu/...=-race=false

# These have no goroutines. Rendering is slow under the detector, so only its tests of goroutines run.
ALONE := /processing/(learn|cpu/kernel|internal/.*)$$|/lab/score$$|/internal/(house|record|simd/.*)$$

# The rooms with locks and goroutines of their own.
ROOMS := ./app/job ./app/session/... ./app/work ./app/device ./app/batch ./app/view ./app/imagefile ./app/crash \
	./internal/atomicfile ./internal/parallel ./processing/banded

watched: ## the rooms with locks and goroutines under the race detector
	$(GO) test -vet=off $(PATIENT) $(RACE) $(LOOPS) -short $(ROOMS)
	$(GO) test -vet=off $(PATIENT) $(RACE) -short -run 'Workers|Deterministic|Cancelled' ./processing/cpu

# The loops with unsafe pointers need no race detector for this.
loops: ## the loops with checked pointers, and the plain ones
	$(GO) test -vet=off $(PATIENT) -gcflags=blik/processing/...=-d=checkptr -short \
		./processing/cpu/... ./processing/network ./processing/internal/...
	BLIK_KERNELS=plain $(GO) test -vet=off -short ./processing/cpu/... ./processing/network

# The slowest packages start first. Those in the background have one goroutine most of the time.
race: ## the short tests under the race detector, the real window among them
	$(GO) test -vet=off $(PATIENT) $(RACE) $(LOOPS) -short ./ui/e2e ./ui ./processing/correct \
		$$($(GO) list ./... | grep -vE '$(ALONE)|/processing/cpu$$|/lab/synth$$')
	@$(GO) test -vet=off $(PATIENT) $(RACE) $(LOOPS) -short -run 'Workers|Deterministic|Cancelled' ./lab/synth & synth=$$!; \
		$(GO) test -vet=off $(PATIENT) $(RACE) -short ./processing/cpu; cpu=$$?; \
		wait $$synth && exit $$cpu

# New inputs for every fuzz target; unit runs the stored ones.
FUZZTIME := 20s

fuzz: ## every fuzz target on new inputs for FUZZTIME
	@grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u | while read -r dir; do \
		for target in $$($(GO) test -list '^Fuzz' "$$dir" | grep '^Fuzz'); do \
			$(GO) test -vet=off -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$dir" || exit 1; \
		done; \
	done

# The record stands in for the go command; see internal/test/record.
RECORD := $(CURDIR)/build/record

$(RECORD)/go: $(wildcard internal/test/record/*.go)
	@$(GO) build -o $@ ./internal/test/record && cp $@ $(RECORD)/record

times: $(RECORD)/go ## write docs/tests.md: what make test costs with an empty build cache, by package and test
	@rm -rf $(RECORD)/test $(RECORD)/cache
	GOCACHE=$(RECORD)/cache STATICCHECK_CACHE=$(RECORD)/cache/staticcheck BLIK_RECORD=$(RECORD)/test \
		$(MAKE) --no-print-directory test GO=$(RECORD)/go
	$(RECORD)/record page $(RECORD)/test >docs/tests.md
	@rm -rf $(RECORD)/cache

tiers: $(RECORD)/go ## run the three tiers and print in which of them each test passes
	@for tier in check test test-all; do \
		rm -rf $(RECORD)/$$tier; BLIK_RECORD=$(RECORD)/$$tier $(MAKE) --no-print-directory $$tier GO=$(RECORD)/go || exit 1; \
	done
	$(RECORD)/record tiers $(RECORD)/check $(RECORD)/test $(RECORD)/test-all

window: build ## drive the real window under Xvfb, as unit does among others
	BLIK_REQUIRE_XVFB=1 $(DRIVEN) $(GO) test -vet=off -count=1 -run Xvfb ./ui/e2e

bench: ## benchmarks of the processing core
	$(GO) test -run '^$$' -bench . ./processing/... ./lab/...

bench-opencv: ## the operations beside OpenCV's (Debian: libopencv-dev), with the ratios that are aimed at
	@mkdir -p build
	g++ -O2 -std=c++17 $$(pkg-config --cflags opencv4) -o build/opencv-peer lab/opencv/peer/peer.cc -lopencv_imgproc -lopencv_core
	$(GO) run ./lab/opencv

audit: go ## sums of the modules, known weaknesses (govulncheck, where its database can be reached), licences
	GO='$(GO)' scripts/audit.sh

score: headless ## accuracy on ../shared/data/glare-dev, as ../shared/tools/score.py prints it
	@test -d ../shared/data/glare-dev || { echo "../shared/data/glare-dev is absent: nothing to score"; exit 1; }
	@mkdir -p build/masks
	build/blik-headless detect --quiet --overwrite -o build/masks '../shared/data/glare-dev/*_glare.*'
	build/blik-headless score ../shared/data/glare-dev build/masks

accuracy: headless ## figures of docs/accuracy.md and a sheet of parts; takes ten minutes and more
	scripts/accuracy.sh

train: ## train the network on a machine with a GPU; elsewhere it says what is needed
	@training/run.sh

readme: headless ## write the tables of parameters, docs/parameters.md and docs/parameters.ru.md
	scripts/readme.sh

setup: go
	@scripts/setup.sh build

setup-test: go
	@scripts/setup.sh build
	@scripts/setup.sh test || echo "What the tests use could not be installed (see above): those that need it are skipped."

go:
	@scripts/setup.sh go

clean: ## remove what was built
	rm -rf build

-include cuda.mk dist.mk
