# GPU support (build tag cuda), enabled if there is a suitable cuda.h.

CUDA_INCLUDE := $(shell scripts/cuda.sh where)
ifneq ($(CUDA_INCLUDE),)
GPU_TAG := cuda
# Not through CGO_CFLAGS, which would rebuild every package that uses C.
GPU_ENV := CPATH=$(CUDA_INCLUDE)
GPU_CGO := 1
test: gpu-test
test-all: emulated
endif
# The compiler that "make cuda-compiler" fetched, or the system's.
NVCC ?= $(or $(wildcard .cache/cuda/bin/nvcc),nvcc)

.PHONY: cuda cuda-compiler kernels gpu gpu-test emulated gpu-verify

gpu:
	@echo "GPU support: $(if $(GPU_TAG),yes ($(CUDA_INCLUDE)/cuda.h),no (make cuda fetches what it needs))"

cuda: ## fetch cuda.h, which building with GPU support needs
	@scripts/cuda.sh header

cuda-compiler: ## fetch nvcc, which make kernels needs
	@scripts/cuda.sh compiler

kernels: ## compile kernels/*.cu to the PTX and the machine code that the program embeds
	@command -v $(NVCC) >/dev/null || { echo "There is no nvcc: run make cuda-compiler." >&2; exit 1; }
	@GO=$(GO) scripts/kernels.sh $(NVCC)

gpu-test: ## vet and test what the tag cuda adds; what needs a GPU says so
	@test -n "$(GPU_TAG)" || { echo "There is no cuda.h of CUDA 11.8 to 12: run make cuda." >&2; exit 1; }
	$(GPU_ENV) $(GO) vet -tags cuda ./cuda/... ./app/device ./lab/gpu
	$(GPU_ENV) $(GO) test -tags cuda ./cuda/... ./app/device ./lab/gpu ./kernels

# Emulation reveals wrong results of kernels, but neither races nor times. The reversed order of threads and blocks
# reveals kernels that depend on the order.
emulated: ## test the GPU's code where there is none, its kernels run on the processor
	@test -n "$(GPU_TAG)" || { echo "There is no cuda.h of CUDA 11.8 to 12: run make cuda."; exit 1; }
	scripts/emulate.sh build/emulation
	$(GPU_ENV) $(GO) test -c -tags cuda -o build/emulation/cuda.test ./cuda
	$(GPU_ENV) $(GO) test -c -tags cuda -o build/emulation/gpu.test ./lab/gpu
	for order in forwards backwards; do for folder in cuda lab/gpu; do (cd $$folder && \
	  EMULATED_ORDER=$$order LD_LIBRARY_PATH=$(CURDIR)/build/emulation BLIK_REQUIRE_GPU=1 \
	    $(CURDIR)/build/emulation/$${folder##*/}.test -test.short -rapid.checks 20 -rapid.nofailfile \
	    -test.skip 'GlareDev|NoLeak|Banded|DetectParameters|TooLittleMemory') || exit 1; \
	done; done

gpu-verify: ## run all GPU tests and figures on this machine's GPU and write kernels/verified.json
	GO=$(GO) scripts/gpu-verify.sh
