#!/bin/sh
# Removes what a Podman whose containers were killed left in the firewall for 10.BLOCK.0.0/16: a forgotten rule would lead a port of
# this machine, which somebody else listens on by now, to a container that is gone.
# Usage: clear-firewall.sh BLOCK
block="$1"
iptables="$(command -v iptables || echo /usr/sbin/iptables)"

drop() {
  # The rules are quoted as a shell wants them.
  sed 's/^-A/-D/' | while read -r rule; do eval "$iptables -w -t nat $rule" 2>/dev/null; done
}

rules="$("$iptables" -w -t nat -S)" || exit 0
own="$(printf '%s\n' "$rules" | grep -F -- "10.$block." | grep '^-A NETAVARK')"
[ -n "$own" ] || exit 0
for chain in $(printf '%s\n' "$own" | cut -d' ' -f2 | grep '^NETAVARK-DN-' | sort -u); do
  # A network of the same name on another engine shares the chain: then it is left to that one.
  printf '%s\n' "$rules" | grep "^-A $chain " | grep -qvF -- "10.$block." && continue
  printf '%s\n' "$rules" | grep -- "-j $chain\$" | drop
done
printf '%s\n' "$own" | drop
exit 0
