#!/bin/sh
# Waits until the test process PID has ended or the engine's FOLDER is gone. When the process ended, by kill -9 or Ctrl-C, ends what
# that engine left, also where somebody else has removed the folder by then: its processes and theirs, its mounts, its control groups,
# its links and rules for 10.BLOCK.0.0/16 (none for an empty BLOCK).
# Usage: engine-warden.sh PID FOLDER BLOCK
pid="$1" folder="$2" block="$3"

is_alive() {
  # Where nobody collects the dead, they stay listed.
  [ -e "/proc/$pid/status" ] && ! grep -qs '^State:.[ZX]' "/proc/$pid/status"
}

while [ -d "$folder" ] && is_alive; do sleep 2; done
if is_alive; then exit 0; fi

# Those whose arguments or environment name the folder: engine, containerd, shims or monitors. Containers are their children.
for process in /proc/[0-9]*; do
  number="${process#/proc/}"
  [ "$number" = "$$" ] && continue
  grep -qsaF "$folder/" "$process/cmdline" "$process/environ" || continue
  children="$(grep -ls "^PPid:.$number\$" /proc/[0-9]*/status | cut -d/ -f3)"
  # shellcheck disable=SC2086
  kill -9 "$number" $children 2>/dev/null
done
grep -oE " $folder/[^ ]+" /proc/self/mounts | sort -r | while read -r mount; do umount -l "$mount"; done
# The block belongs to whom its bridge names: another engine may have taken it since.
if [ -n "$block" ] && ip -o link show "tm$block" 2>/dev/null | grep -qF "alias $pid $folder"; then
  sh "$(dirname "$0")/clear-cgroups.sh" "tm$block"
  # The bridge itself has an address or only a name.
  ip -4 -o addr | grep -F " 10.$block." | while read -r _ link _; do ip link del "$link"; done
  ip link del "tm$block" 2>/dev/null
  sh "$(dirname "$0")/clear-firewall.sh" "$block"
fi
rm -rf "$folder"
