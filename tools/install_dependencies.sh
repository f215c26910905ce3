#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that kith needs and this machine lacks. Prints nothing when none is missing.
#   tools/install_dependencies.sh [--print] [--optional] [GROUP...]
# Groups, each needed by the command of make that names it:
#   program    to build and run the program (the default)
#   page       Node.js and npm, which bundle the HTML page of `kith report`
#   python     to build and use the Python package
#   test       to build and run the tests
#   format     to lay out C++ files
#   browser    to test the HTML page
#   sanitizer  to build and run the tests under the sanitizers, which clang compiles faster than g++
#   bench, developer, reproduce
# --print lists the packages and installs nothing. With --optional a package that cannot be had is no error.
set -euo pipefail

program_packages=(
  g++ make cmake ninja-build pkg-config python3
  libeigen3-dev libopenblas-pthread-dev libtbb-dev libcli11-dev libfmt-dev nlohmann-json3-dev libsqlite3-dev
  zlib1g-dev libzstd-dev libmatio-dev libhdf5-dev libedlib-dev libparasail-dev)
page_packages=()
python_packages=(
  python3-dev python3-numpy python3-scipy python3-sklearn pybind11-dev python3-setuptools python3-wheel python3-pip)
test_packages=(
  libgtest-dev libgmock-dev libsvm-dev clang-format python3-pytest python3-numpy python3-scipy python3-sklearn
  python3-cvxopt python3-pandas python3-hypothesis python3-venv)
format_packages=(clang-format)
browser_packages=(chromium)
bench_packages=(libbenchmark-dev libsvm-dev python3-pandas python3-cvxopt parasail)
sanitizer_packages=(clang libclang-rt-14-dev)
developer_packages=(clang clang-tidy libclang-rt-14-dev llvm gcovr)
reproduce_packages=(ncbi-blast+)

# Without dpkg nothing can be looked up by package name; these must at least be there by command.
needed_commands=(c++ cmake ninja pkg-config python3)

# Node.js often comes from elsewhere than Debian, and packages of the two do not mix.
command -v node >/dev/null || page_packages+=(nodejs)
command -v npm >/dev/null || page_packages+=(npm)

print_only=no
optional=no
groups=()
for argument in "$@"; do
  case "$argument" in
    --print) print_only=yes ;;
    --optional) optional=yes ;;
    program | page | python | test | format | browser | sanitizer | bench | developer | reproduce) groups+=("$argument") ;;
    *)
      echo "install_dependencies.sh: there is no group '$argument'; the groups are program, page, python, test," \
        "format, browser, sanitizer, bench, developer, reproduce" >&2
      exit 1
      ;;
  esac
done
[ ${#groups[@]} -gt 0 ] || groups=(program)

wanted=()
for group in "${groups[@]}"; do
  declare -n list="${group}_packages"
  for package in "${list[@]}"; do
    case " ${wanted[*]} " in *" $package "*) ;; *) wanted+=("$package") ;; esac
  done
done

if [ $print_only = yes ]; then
  [ ${#wanted[@]} -eq 0 ] || printf '%s\n' "${wanted[@]}"
  exit 0
fi

is_installed() {
  [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  [ $optional = no ] || exit 0
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
    [ $optional = no ] || exit 0
    {
      echo "Packages are missing, and installing them needs root (there is no sudo here). As root:"
      echo "  apt-get install ${missing[*]}"
    } >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "Installing ${#missing[@]} missing packages: ${missing[*]}"
install_missing() {
  "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      "${missing[@]}" </dev/null
}
if ! install_missing; then
  if [ $optional = yes ]; then
    echo "Not installed, and not needed for the rest: ${missing[*]}" >&2
    exit 0
  fi
  exit 1
fi
