#!/bin/sh
# Removes the control group NAME and all below it from every hierarchy, as soon as the last of its processes is gone.
# Usage: clear-cgroups.sh NAME
for _ in $(seq 200); do
  left=""
  for group in "/sys/fs/cgroup/$1" /sys/fs/cgroup/*/"$1"; do
    [ -d "$group" ] || continue
    find "$group" -depth -type d -exec rmdir {} + 2>/dev/null
    [ -d "$group" ] && left="$group"
  done
  [ -n "$left" ] || exit 0
  sleep 0.05
done
echo "$left is still used" >&2
exit 1
