#!/usr/bin/env bash
# filesystems.sh DIR - small file systems to measure on, mounted below DIR until standard input ends.
#
# To be run in a mount namespace of its own (filesystems.mjs does): everything is gone with it, whatever becomes of the
# caller. Images lie on a tmpfs, so that what is measured is the file system and no disk. Says `mounted NAME FOLDER` or
# `missing NAME WHY`, tab-separated, for each, and then `ready`.
set -u
base=$1
size=${2:-6G}

say() { local IFS=$'\t'; printf '%s\n' "$*"; }

image() { # image NAME PROGRAM WORDS...
  local name=$1 program=$2 reason
  shift 2
  if ! command -v "$program" >/dev/null; then
    say missing "$name" "$program is not installed"
    return
  fi
  truncate -s "$size" "$base/$name.img"
  mkdir "$base/$name"
  if reason=$("$program" "$@" "$base/$name.img" 2>&1) && reason=$(mount -o loop "$base/$name.img" "$base/$name" 2>&1); then
    say mounted "$name" "$base/$name"
  else
    say missing "$name" "$(printf '%s' "$reason" | tail -n 1 | tr '\t' ' ')"
  fi
}

if ! reason=$(mount -t tmpfs -o size=80%,mode=755 gantry-bench "$base" 2>&1); then
  say missing all "$reason"
else
  mkdir "$base/tmpfs"
  if reason=$(mount -t tmpfs -o size="$size" gantry-bench-trees "$base/tmpfs" 2>&1); then
    say mounted tmpfs "$base/tmpfs"
  else
    say missing tmpfs "$reason"
  fi
  # All of ext4's tables now: what it writes later in the background would be measured too.
  image ext4 mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0
  image btrfs mkfs.btrfs -q
  image xfs mkfs.xfs -q -m reflink=1
fi
say ready
cat >/dev/null
