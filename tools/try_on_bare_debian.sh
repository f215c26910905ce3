#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tries the README's commands as a new user would: in a minimal Debian that has nothing of kith's. Makes the system with
# mmdebstrap, copies the committed tree into it, installs make, runs `make demo` and `make test`, and prints how long
# each took and how large the packages are. Needs root, a network and about 6 GB of disk.
#   tools/try_on_bare_debian.sh [FOLDER [COMMAND...]]
# FOLDER (default: a temporary one) holds the system and a log per command; only a temporary one is removed.
# COMMANDs are targets of make, or `ci` for .ci/run (default: demo test). The folder ../shared is seen there, where it exists.
set -euo pipefail
cd "$(dirname "$0")/.."
case "${1:-}" in
  -*) sed -n '/^#   tools/,/^set/{/^set/d;s/^# \{0,3\}//;p}' "$0"; exit 0 ;;
esac

suite=bookworm
if [ "$(id -u)" -ne 0 ]; then
  echo "try_on_bare_debian.sh: a chroot needs root; run it with sudo" >&2
  exit 1
fi
if ! command -v mmdebstrap >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mmdebstrap
fi
if [ $# -gt 0 ]; then
  folder=$(mkdir -p "$1" && cd "$1" && pwd)
  shift
else
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi
[ $# -gt 0 ] || set -- demo test
root=$folder/root

echo "Making a minimal Debian ($suite) ..."
rm -rf "$root"
mmdebstrap --variant=minbase --format=directory "$suite" "$root" >"$folder/mmdebstrap.log" 2>&1 ||
  { tail -5 "$folder/mmdebstrap.log" >&2; exit 1; }
# The network as it is here: names, and the certificates that npm is to trust.
cp /etc/resolv.conf /etc/hosts "$root/etc/"
certificates=
if [ -f /etc/ssl/certs/ca-certificates.crt ]; then
  certificates=npm_config_cafile=/etc/outer-certificates.crt
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/outer-certificates.crt"
fi
mkdir "$root/kith"
[ ! -d ../shared ] || mkdir "$root/shared"
git archive HEAD | tar -x -C "$root/kith"

inside() {  # inside COMMAND: in the new system, whose mounts end with the command
  unshare --mount --pid --fork bash -c '
    mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && mount -t tmpfs tmp "$0/tmp" &&
      { [ ! -d ../shared ] || mount --bind ../shared "$0/shared"; } &&
      exec chroot "$0" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 $2 bash -c "$1"' "$root" "$1" "$certificates"
}

packages() {  # how many, and their size
  inside 'dpkg-query --show --showformat="\${Installed-Size}\n"' |
    awk '{ size += $1 } END { printf "%d packages, %d MB", NR, size / 1024 }'
}
downloaded() { du -sm "$root/var/cache/apt/archives" | cut -f 1; }

failed=0
summary=()
timed() {  # timed NAME COMMAND: the log has the seconds before each line
  local name=$1 start=$SECONDS verdict=passed log=$folder/$1.log
  echo "== $name"
  inside "$2" 2>&1 | while IFS= read -r line; do printf '%5d  %s\n' $((SECONDS - start)) "$line"; done | tee "$log" | tail -4 ||
    { verdict=FAILED; failed=1; }
  local seconds=$((SECONDS - start))
  local began
  began=$(awk '/Building kith/ { print $1; exit }' "$log")
  summary+=("$(printf '%-22s %s: %d s%s; %s, %d MB downloaded' "$name" $verdict $seconds \
    "${began:+, $((seconds - began)) s of them after the packages}" "$(packages)" "$(downloaded)")")
}

summary+=("$(printf '%-22s %s' 'minimal Debian' "$(packages)")")
timed 'apt-get-install-make' 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends make'
for command in "$@"; do
  if [ "$command" = ci ]; then
    timed '.ci-run' 'cd /kith && .ci/run'
  else
    timed "make-$command" "cd /kith && make $command"
  fi
done

printf '\n%s\n' "On $(nproc) cores:"
printf '%s\n' "${summary[@]}"
exit $failed
