#!/usr/bin/env bash
# Downloads missing files for building with the tag cuda into .cache/cuda, which git ignores: "header" brings cuda.h,
# "compiler" nvcc and ptxas with the headers they read. Nothing is installed and no setting of the system is changed:
# apt uses a separate source list with the system's archive, its non-free component, and its keyring. "where" prints the
# folder of cuda.h, or nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD/.cache/cuda

# header_at reports whether a folder holds a cuda.h with which gorgonia.org/cu compiles: 11.8 to 12.x.
header_at() {
  local n
  [ -f "$1/cuda.h" ] || return 1
  n=$(sed -n 's/^#define CUDA_VERSION \([0-9]*\).*/\1/p' "$1/cuda.h" | head -n 1)
  [ -n "$n" ] && [ "$n" -ge 11080 ] && [ "$n" -lt 13000 ]
}

where() {
  local folder
  for folder in "$root/include" ${CUDA_HOME:+"$CUDA_HOME/include"} /usr/include /usr/local/cuda/include; do
    if header_at "$folder"; then
      echo "$folder"
      return
    fi
  done
}

# fetch downloads packages by name into $root/packages.
fetch() {
  local ID="" VERSION_CODENAME="" component="" archive="" keyring
  # shellcheck disable=SC1091
  [ ! -f /etc/os-release ] || . /etc/os-release
  case $ID in
    debian) component=non-free ;;
    ubuntu) component=multiverse ;;
  esac
  keyring=/usr/share/keyrings/$ID-archive-keyring.gpg
  if [ -n "$component" ] && command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null && [ -f "$keyring" ]; then
    # shellcheck disable=SC2016 # apt-get replaces them
    archive=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
      awk -v release="$VERSION_CODENAME" '$2 == release && $3 == "main" { print $1; exit }')
  fi
  if [ -z "$archive" ]; then
    echo "cuda.sh: this fetches from the archive of Debian or Ubuntu, which this system does not use." >&2
    echo "Install CUDA 11.8 to 12 from your system and set CUDA_HOME to its folder." >&2
    exit 1
  fi
  mkdir -p "$root/apt/lists/partial" "$root/apt/cache/archives/partial" "$root/packages"
  cat >"$root/apt/system.sources" <<EOF
Types: deb
URIs: $archive
Suites: $VERSION_CODENAME
Components: main $component
Architectures: amd64
Signed-By: $keyring
EOF
  local options=(-q -o "Dir::Etc::SourceList=$root/apt/system.sources" -o Dir::Etc::SourceParts=-
    -o "Dir::State::Lists=$root/apt/lists" -o "Dir::Cache=$root/apt/cache"
    -o "APT::Sandbox::User=$(id -un)" -o APT::Architecture=amd64 -o APT::Architectures=amd64)
  apt-get "${options[@]}" update
  (cd "$root/packages" && apt-get "${options[@]}" download "$@")
}

# unpack extracts the paths that match patterns from a package.
unpack() {
  local package=$1 into=$2
  shift 2
  mkdir -p "$into"
  dpkg-deb --fsys-tarfile "$root/packages/${package}"_*.deb | tar -x -C "$into" --wildcards "$@"
}

header() {
  [ -z "$(where)" ] || return 0
  echo "Fetching cuda.h (some 800 MB are downloaded, one file is kept)"
  fetch nvidia-cuda-dev
  unpack nvidia-cuda-dev "$root/unpacked" ./usr/include/cuda.h
  mkdir -p "$root/include"
  mv "$root/unpacked/usr/include/cuda.h" "$root/include/"
  rm -rf "$root/unpacked" "$root/packages"
}

compiler() {
  [ ! -x "$root/bin/nvcc" ] || return 0
  echo "Fetching nvcc (some 900 MB are downloaded, 150 MB are kept)"
  fetch nvidia-cuda-dev nvidia-cuda-toolkit
  unpack nvidia-cuda-dev "$root/unpacked" './usr/include/*'
  unpack nvidia-cuda-toolkit "$root/unpacked" './usr/lib/nvidia-cuda-toolkit/bin/*' './usr/lib/nvidia-cuda-toolkit/libdevice/*' \
    './usr/bin/ptxas' './usr/bin/fatbinary' './usr/bin/cudafe++' './usr/bin/cuobjdump' './usr/bin/nvdisasm'
  local tools=$root/unpacked/usr/lib/nvidia-cuda-toolkit
  # The wrappers that choose a host compiler, and the profile with the system's folders, do not work here.
  rm -f "$tools/bin/gcc" "$tools/bin/g++" "$tools/bin/nvcc.profile"
  rm -rf "$root/include" "$root/libdevice" "$root/bin"
  mkdir -p "$root/bin"
  mv "$root/unpacked/usr/include" "$tools/libdevice" "$root/"
  mv "$root/unpacked/usr/bin/"* "$root/bin/"
  mv "$tools/bin/cicc" "$tools/bin/nvcc" "$root/bin/"
  # shellcheck disable=SC2016 # nvcc replaces $(_HERE_)
  echo 'NVVMIR_LIBRARY_DIR = $(_HERE_)/../libdevice' >"$root/bin/nvcc.profile"
  rm -rf "$root/unpacked" "$root/packages"
}

case ${1:-} in
  where) where ;;
  header) header ;;
  compiler) compiler ;;
  *)
    echo "usage: cuda.sh where|header|compiler" >&2
    exit 2
    ;;
esac
