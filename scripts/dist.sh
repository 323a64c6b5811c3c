#!/usr/bin/env bash
# Builds the programs and packages for users in build/dist: "headless" the programs without a window for six systems,
# "linux" the packages of the window for Linux, "windows" those for Windows, "opengl" a driver for Windows without one,
# "sums" the checksums of all. Besides Go it needs the packages that "scripts/setup.sh build dist" installs, and
# "opengl" for the driver. The output does not depend on time, place or user.
set -euo pipefail
cd "$(dirname "$0")/.."

go=${GO:-go}
out=${DIST:-$PWD/build/dist}
work=${DIST_WORK:-$PWD/build/dist-work}
export GOEXPERIMENT=simd GOFLAGS="-trimpath -buildvcs=false" GOAMD64=v1
export LC_ALL=C TZ=UTC
umask 022

# All files get the time of the commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
release=$(sed -n 's/^Version = "\(.*\)"/\1/p' FyneApp.toml)
if [ "$(git describe --tags --exact-match 2>/dev/null)" = "v$release" ]; then
  version=$release
else
  version=$release+$(git log -1 --format=%cd --date=format:%Y%m%d).$(git log -1 --format=%h)
fi
copyright=$(sed -n 's/^Copyright (c) //p' LICENSE)
[ -z "$(git status --porcelain --untracked-files=no)" ] || version=$version.changed

ldflags="-s -w -buildid= -X main.version=$version"
tool=$work/packaging
mkdir -p "$out" "$work"
$go build -o "$tool" ./packaging

# documents copies the files that accompany every program to a folder.
documents() {
  local folder=$1
  shift
  cp LICENSE README.md README.ru.md CHANGELOG.md "$folder/"
  "$tool" licences "$folder/THIRD-PARTY.txt" "$@"
}

# manual writes the compressed manual pages into a folder such as /usr/share/man.
manual() {
  rm -rf "$1"
  "$tool" manual en "$version" "$1/man1"
  "$tool" manual ru "$version" "$1/ru/man1"
  gzip -9n "$1"/man1/*.1 "$1"/ru/man1/*.1
}

# archive packs a folder, as tar.xz or zip by the name of the output.
archive() {
  local output=$1 folder=$2
  find "$folder" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  case $output in
    *.zip) "$tool" zip "$output" "$folder" ;;
    *) tar -C "$(dirname "$folder")" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
      --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime -cf - "$(basename "$folder")" |
      xz -9 -T1 >"$output" ;;
  esac
  echo "$output"
}

# resources makes the icon, version and manifest resources of Windows programs, which go build links if they are beside
# main.go.
resources() {
  local tools=$work/tools size
  [ -x "$tools/go-winres" ] || GOFLAGS= GOBIN=$tools $go install github.com/tc-hib/go-winres@v0.3.3
  mkdir -p "$work/winres"
  for size in 16 32 48 64 256; do rsvg-convert -w $size -h $size assets/icon.svg >"$work/winres/icon-$size.png"; done
  fill packaging/windows/winres.json.in "RELEASE=$release" "VERSION=$version" "COPYRIGHT=$copyright" >"$work/winres/winres.json"
  trap 'rm -f rsrc_windows_*.syso' EXIT
  "$tools/go-winres" make --in "$work/winres/winres.json" --arch amd64,arm64 --out rsrc
}

headless() {
  resources
  local target os arch name folder program kind
  manual "$work/man"
  for target in ${TARGETS:-linux/amd64 linux/arm64 windows/amd64 windows/arm64 darwin/amd64 darwin/arm64}; do
    os=${target%/*} arch=${target#*/} program=blik kind=tar.xz
    [ "$os" != windows ] || program=blik-cli.exe kind=zip
    name=blik-headless-$version-$os-$arch
    folder=$work/$name
    rm -rf "$folder"
    mkdir -p "$folder"
    CGO_ENABLED=0 GOOS=$os GOARCH=$arch $go build -tags headless -ldflags "$ldflags" -o "$folder/$program" .
    documents "$folder" "$folder/$program"
    [ "$os" = windows ] || cp -r "$work/man" "$folder/man"
    "$tool" sbom "$version" "$folder/$program" "$out/$name.cdx.json"
    archive "$out/$name.$kind" "$folder"
  done
}

# icons writes the icon in the sizes that desktops expect.
icons() {
  local size
  for size in 32 48 64 128 256 512; do
    mkdir -p "$1/${size}x${size}/apps"
    rsvg-convert -w "$size" -h "$size" assets/icon.svg >"$1/${size}x${size}/apps/org.blik.Blik.png"
  done
  install -D -m 644 assets/icon.svg "$1/scalable/apps/org.blik.Blik.svg"
}

# fill replaces @NAME@ by the value of a variable, as NAME=value.
fill() {
  local file=$1 pair
  shift
  local expression=()
  for pair in "$@"; do expression+=(-e "s|@${pair%%=*}@|${pair#*=}|g"); done
  sed "${expression[@]}" "$file"
}

# cuda_flags sets the build flags for GPU support if there is a cuda.h; otherwise the packages are built without it.
cuda_flags() {
  local include
  tags="" include=$(scripts/cuda.sh where)
  if [ -n "$include" ]; then
    export CPATH=$include
    tags=cuda
  fi
  echo "GPU support of $1: ${tags:+yes}${tags:-no (make cuda fetches what it needs)}"
}

# root_of_linux makes the tree installed by a package. Arguments: the folder and the program.
root_of_linux() {
  local root=$1 program=$2 share=$1/usr/share shell
  rm -rf "$root"
  install -D -m 755 "$program" "$root/usr/bin/blik"
  manual "$share/man"
  icons "$share/icons/hicolor"
  install -D -m 644 packaging/linux/org.blik.Blik.desktop -t "$share/applications"
  mkdir -p "$share/metainfo" "$share/doc/blik"
  fill packaging/linux/org.blik.Blik.metainfo.xml.in "VERSION=$version" "DATE=$(date -d "@$SOURCE_DATE_EPOCH" +%F)" \
    >"$share/metainfo/org.blik.Blik.metainfo.xml"
  {
    fill packaging/linux/copyright.in "COPYRIGHT=$copyright"
    sed -n '/^Permission/,$p' LICENSE | sed 's/^$/./; s/^/ /'
  } >"$share/doc/blik/copyright"
  "$tool" licences "$share/doc/blik/THIRD-PARTY.txt" "$program"
  gzip -9n <CHANGELOG.md >"$share/doc/blik/changelog.gz"
  for shell in bash/bash-completion/completions/blik zsh/zsh/vendor-completions/_blik fish/fish/vendor_completions.d/blik.fish; do
    mkdir -p "$share/$(dirname "${shell#*/}")"
    # A program for another processor cannot run here; its output would be the same.
    "$runs" completion "${shell%%/*}" >"$share/${shell#*/}"
  done
  desktop-file-validate "$share/applications/org.blik.Blik.desktop"
  appstreamcli validate --no-net "$share/metainfo/org.blik.Blik.metainfo.xml"
}

# glibc_of prints the newest version of the C library that a program needs.
glibc_of() { objdump -T "$1" | grep -o 'GLIBC_2\.[0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1; }

nfpm() {
  local tools=$work/tools
  [ -x "$tools/nfpm" ] || GOFLAGS= GOBIN=$tools $go install github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2
  "$tools/nfpm" "$@"
}

linux() {
  local arch name root program rpmarch
  runs=$work/native/blik
  CGO_ENABLED=0 $go build -tags headless -ldflags "$ldflags" -o "$runs" .
  for arch in ${ARCHS:-amd64 arm64}; do
    name=blik-$version-linux-$arch program=$work/linux-$arch/blik root=$work/root-$arch
    if [ "$arch" = amd64 ]; then
      cuda_flags "$name"
      CGO_ENABLED=1 GOARCH=amd64 $go build -tags "$tags" -ldflags "$ldflags" -o "$program" .
      rpmarch=x86_64
    else
      sysroot=${SYSROOT:-$PWD/build/sysroot-arm64}
      if [ ! -d "$sysroot/usr/include/gtk-3.0" ]; then
        echo "$name is left out: scripts/sysroot.sh makes the headers and libraries that it needs." >&2
        continue
      fi
      PKG_CONFIG_SYSROOT_DIR=$sysroot PKG_CONFIG_LIBDIR=$sysroot/usr/lib/aarch64-linux-gnu/pkgconfig:$sysroot/usr/share/pkgconfig \
        CGO_ENABLED=1 GOARCH=arm64 CC="aarch64-linux-gnu-gcc --sysroot=$sysroot" CXX="aarch64-linux-gnu-g++ --sysroot=$sysroot" \
        $go build -ldflags "$ldflags" -o "$program" .
      rpmarch=aarch64
    fi
    root_of_linux "$root" "$program"
    find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    fill packaging/linux/nfpm.yaml.in "ROOT=$root" "ARCH=$arch" "VERSION=$version" "GLIBC=$(glibc_of "$program")" \
      "MTIME=$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)" >"$work/nfpm-$arch.yaml"
    nfpm package -f "$work/nfpm-$arch.yaml" -p deb -t "$out/blik_${version}_$arch.deb"
    nfpm package -f "$work/nfpm-$arch.yaml" -p rpm -t "$out/blik-$version.$rpmarch.rpm"
    "$tool" sbom "$version" "$program" "$out/$name.cdx.json"
    # The same tree for systems without these packages, with a script that installs and removes it.
    rm -rf "${work:?}/$name"
    mkdir -p "$work/$name"
    cp -r "$root/usr/." "$work/$name/"
    install -m 755 packaging/linux/install.sh "$work/$name/install.sh"
    cp LICENSE README.md README.ru.md "$work/$name/"
    archive "$out/$name.tar.xz" "$work/$name"
  done
}

windows() {
  local name=blik-$version-windows-amd64 folder=$work/blik-$version-windows-amd64
  cuda_flags "$name"
  resources
  rm -rf "$folder"
  mkdir -p "$folder"
  (
    export CGO_ENABLED=1 GOOS=windows GOARCH=amd64 CC=x86_64-w64-mingw32-gcc CXX=x86_64-w64-mingw32-g++
    # Fyne names buttons and texts to screen readers only with this tag.
    $go build -tags "accessibility${tags:+,$tags}" -ldflags "$ldflags -H windowsgui" -o "$folder/blik.exe" .
    $go build -tags "headless${tags:+,$tags}" -ldflags "$ldflags" -o "$folder/blik-cli.exe" .
  )
  documents "$folder" "$folder/blik.exe" "$folder/blik-cli.exe"
  "$tool" sbom "$version" "$folder/blik.exe" "$out/$name.cdx.json"
  archive "$out/$name.zip" "$folder"
  convert "$work/winres/icon-16.png" "$work/winres/icon-32.png" "$work/winres/icon-48.png" "$work/winres/icon-256.png" \
    "$work/winres/blik.ico"
  makensis -V2 -NOCD -DVERSION="$version" -DRELEASE="$release" -DCOPYRIGHT="$copyright" -DSOURCE="$folder" \
    -DICON="$work/winres/blik.ico" -DOUTPUT="$out/blik-$version-setup.exe" packaging/windows/blik.nsi
}

# opengl builds Mesa's software driver for Windows: twenty minutes of processor time, so only on request.
opengl() {
  local release=22.3.6 sum=737cb8e5d380ce1a0ad01fb8b74db7f27303435c353e753d2302e8cf3927bad2
  local mesa=$work/mesa name=blik-opengl-windows-amd64 targets=src/gallium/targets file
  mkdir -p "$mesa"
  file=$mesa/mesa_$release.orig.tar.gz
  echo "$sum  $file" | sha256sum --check --status 2>/dev/null || curl -fsSLo "$file" "http://deb.debian.org/debian/pool/main/m/mesa/${file##*/}"
  echo "$sum  $file" | sha256sum --check --quiet
  [ -d "$mesa/mesa-$release" ] || tar -C "$mesa" -xf "$file"
  # Its scripts need a Python with mako, such as Debian's.
  [ -e "$mesa/build/build.ninja" ] || PATH=/usr/bin:$PATH meson setup "$mesa/build" "$mesa/mesa-$release" --cross-file packaging/windows/mingw.ini \
    --buildtype=release -Db_ndebug=true -Dgallium-drivers=swrast -Dvulkan-drivers= -Dllvm=disabled -Dplatforms=windows \
    -Dgles1=disabled -Dgles2=disabled -Dzlib=disabled -Dzstd=disabled -Dvideo-codecs= \
    "-Dc_link_args=-static -s" "-Dcpp_link_args=-static -s" >"$mesa/setup.log" || { tail "$mesa/setup.log"; return 1; }
  PATH=/usr/bin:$PATH ninja -C "$mesa/build" "$targets/libgl-gdi/opengl32.dll" >"$mesa/build.log" || { tail "$mesa/build.log"; return 1; }
  rm -rf "${work:?}/$name"
  mkdir -p "$work/$name"
  cp "$mesa/build/$targets/libgl-gdi/opengl32.dll" "$mesa/build/$targets/wgl/libgallium_wgl.dll" "$mesa/mesa-$release/docs/license.rst" "$work/$name/"
  cp packaging/windows/opengl.txt "$work/$name/README.txt"
  archive "$out/$name.zip" "$work/$name"
}

sums() {
  (cd "$out" && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum >SHA256SUMS)
  echo "$out/SHA256SUMS"
}

for step in "$@"; do
  case $step in
    headless | linux | windows | opengl | sums) $step ;;
    *)
      echo "usage: dist.sh headless|linux|windows|opengl|sums..." >&2
      exit 2
      ;;
  esac
done
