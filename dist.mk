# Programs and packages for all systems, in build/dist; see docs/packages.md. The required tools are installed by
# setup-dist, never by make test.

.PHONY: dist dist-headless dist-linux dist-windows dist-opengl setup-dist test-arm64 test-windows test-packages

dist: dist-headless dist-linux dist-windows ## programs and packages for all systems, with checksums, in build/dist
	@GO='$(GO)' scripts/dist.sh sums

dist-headless: setup-dist ## the programs without a window, for Linux, Windows and macOS
	@GO='$(GO)' scripts/dist.sh headless

dist-linux: setup-dist ## deb, rpm and tar.xz of the program with its window
	@GO='$(GO)' scripts/dist.sh linux

dist-windows: setup-dist ## zip and installer for Windows
	@GO='$(GO)' scripts/dist.sh windows

dist-opengl: setup-dist ## a driver for Windows that draws on the processor (20 minutes)
	@scripts/setup.sh opengl
	@GO='$(GO)' scripts/dist.sh opengl sums

test-arm64: setup-dist ## tests, masks and corrected files for arm64, under qemu-user
	@GO='$(GO)' scripts/arm64.sh

test-windows: setup-dist ## tests for Windows, and the program with its window, under wine
	@GO='$(GO)' scripts/wine.sh

test-packages: setup-dist ## install the packages in bare Debian 12 and 13 and Ubuntu 24.04 and start them (needs root)
	@for suite in bookworm trixie noble; do scripts/chroot-test.sh $$suite "$$(ls -t build/dist/blik_*_amd64.deb | head -n 1)" build/dist-$$suite.png || exit 1; done
	@scripts/chroot-test.sh trixie "$$(ls -t build/dist/blik-*.x86_64.rpm | head -n 1)" build/dist-rpm.png

setup-dist: go
	@scripts/setup.sh build dist
