# shellcheck shell=bash
# From a bare Debian 12 or 13 to a built ropelab. Sourced, from the top of the repository, by
# tests/run.sh, experiments/reproduce.sh and .ci/run.
#
# ROPELAB_PRESET names the preset (release, development, clang); CXX another compiler than the
# preset's. CXX=clang++ alone means the preset clang.

case "${CXX:-}" in
  *clang*) preset=${ROPELAB_PRESET:-clang} ;;
  *) preset=${ROPELAB_PRESET:-release} ;;
esac
jobs=$(nproc)

# compiler_package: the Debian package of the compiler that will be used.
compiler_package() {
  local compiler=${CXX:-g++}
  if [[ -z ${CXX:-} && $preset == clang ]]; then
    compiler=clang++
  fi
  compiler=${compiler##*/}
  echo "${compiler/clang++/clang}"  # clang++-19 comes in clang-19
}

# shellcheck disable=SC2034  # for those who source this
build_packages=(
  "$(compiler_package)" cmake ninja-build
  libboost-dev libcli11-dev libeigen3-dev libfmt-dev libglpk-dev libhwy-dev
  libopenblas-pthread-dev libtbb-dev
  libtomlplusplus-dev nlohmann-json3-dev
  catch2 libgmp-dev libmpfi-dev libmpfr-dev  # for the tests
)

# missing_packages NAME...: those that are not installed, one a line.
missing_packages() {
  local installed
  # dpkg-query fails as soon as one name is unknown to it; what it printed still counts.
  installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null) ||
    true
  for name in "$@"; do
    grep --quiet --line-regexp --fixed-strings "installed $name" <<<"$installed" || echo "$name"
  done
}

# install_packages NAME...: installs the missing ones, and does nothing at all when none is.
install_packages() {
  local missing as_root=()
  if ! command -v apt-get >/dev/null; then
    echo "No apt-get here: install the counterparts of these Debian packages yourself: $*" >&2
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} == 0)); then
    return
  fi
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "These Debian packages are missing, and installing them takes root or sudo:" \
        "${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "Installing ${missing[*]}"
  "${as_root[@]}" apt-get update --quiet --quiet </dev/null
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --quiet \
    --no-install-recommends --option DPkg::Lock::Timeout=300 "${missing[@]}" </dev/null
}

# build: configures and builds the preset on all cores.
build() {
  # ninja itself notices a changed CMakeLists.txt, but neither presets nor another CXX.
  if [[ -n ${CXX:-} || ! build/$preset/build.ninja -nt CMakePresets.json ]]; then
    cmake --preset "$preset" ${CXX:+-DCMAKE_CXX_COMPILER="$CXX"}
  fi
  cmake --build --preset "$preset" --parallel "$jobs"
}
