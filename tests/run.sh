#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. Arguments are passed on to ctest:
#   tests/run.sh -R formats
# ROPELAB_PRESET or CXX choose another build than g++'s release: see cmake/setup.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/setup.sh

install_packages "${build_packages[@]}"
build
exec ctest --preset "$preset" --parallel "$jobs" "$@"
