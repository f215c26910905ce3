#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages kith needs and this machine lacks; says nothing when none is missing.
#   tools/install_dependencies.sh [--print] [GROUP...]     groups: build (default), test, bench, developer, reproduce
set -euo pipefail

build_packages=(
  build-essential cmake ninja-build pkg-config python3 python3-numpy python3-pytest
  libeigen3-dev libopenblas-pthread-dev libtbb-dev libcli11-dev libfmt-dev
  nlohmann-json3-dev libsqlite3-dev zlib1g-dev libzstd-dev libmatio-dev libhdf5-dev libedlib-dev
  libparasail-dev libgtest-dev libgmock-dev libsvm-dev python3-sklearn python3-cvxopt clang-format
  pybind11-dev python3-dev python3-setuptools python3-wheel python3-pip python3-venv python3-scipy
  python3-pandas python3-hypothesis)
test_packages=(chromium)
bench_packages=(libbenchmark-dev python3-pandas python3-scipy parasail)
developer_packages=(clang clang-tidy libclang-rt-14-dev gcovr)
reproduce_packages=(ncbi-blast+)

# Without dpkg nothing can be looked up by package name; these must at least be there by command.
needed_commands=(c++ cmake ninja pkg-config python3 node npm)

# Node.js often comes from elsewhere than Debian, and packages of the two do not mix.
command -v node >/dev/null || build_packages+=(nodejs)
command -v npm >/dev/null || build_packages+=(npm)

print_only=no
groups=()
for argument in "$@"; do
  case "$argument" in
    --print) print_only=yes ;;
    build | test | bench | developer | reproduce) groups+=("$argument") ;;
    *)
      echo "install_dependencies.sh: unknown group '$argument' (build, test, bench, developer, reproduce)" >&2
      exit 1
      ;;
  esac
done
[ ${#groups[@]} -gt 0 ] || groups=(build)

wanted=()
for group in "${groups[@]}"; do
  declare -n list="${group}_packages"
  wanted+=("${list[@]}")
done

if [ $print_only = yes ]; then
  printf '%s\n' "${wanted[@]}"
  exit 0
fi

is_installed() {
  [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  lacking=()
  for name in "${needed_commands[@]}"; do
    command -v "$name" >/dev/null || lacking+=("$name")
  done
  [ ${#lacking[@]} -gt 0 ] || exit 0
  {
    echo "This machine has no apt-get, and these commands are missing: ${lacking[*]}"
    echo "Install what corresponds to these Debian packages, then run make again:"
    printf '  %s\n' "${wanted[@]}"
  } >&2
  exit 1
fi

missing=()
for package in "${wanted[@]}"; do
  is_installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    {
      echo "Packages are missing, and installing them needs root (there is no sudo here). As root:"
      echo "  apt-get install ${missing[*]}"
    } >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "Installing ${#missing[@]} missing packages: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
  "${missing[@]}"
