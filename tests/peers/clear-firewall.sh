#!/bin/sh
# Removes what a Podman whose containers were killed left in the firewall for 10.BLOCK.0.0/16: a forgotten rule would lead a port of
# this machine, which somebody else listens on by now, to a container that is gone, and would hold a chain that another Podman
# wants to remove.
# Usage: clear-firewall.sh BLOCK
block="$1"
iptables="$(command -v iptables || echo /usr/sbin/iptables)"

# `each TABLE FROM`: the rules of standard input with their first word replaced, as a shell would read them.
each() {
  sed "s/^-A/$2/" | while read -r rule; do eval "$iptables -w -t $1 $rule" 2>/dev/null; done
}

for table in nat filter; do
  rules="$("$iptables" -w -t "$table" -S)" || continue
  own="$(printf '%s\n' "$rules" | grep '^-A' | grep -F NETAVARK | grep -F -- " 10.$block.")"
  [ -n "$own" ] || continue
  printf '%s\n' "$own" | each "$table" -D
  # Chains that only these rules led to or stood in; a network of the same name on another engine shares its chains.
  chains="$(printf '%s\n' "$own" | grep -oE 'NETAVARK-(DN-)?[0-9A-F]{13}' | sort -u)"
  for chain in $chains; do
    left="$("$iptables" -w -t "$table" -S)"
    printf '%s\n' "$left" | grep "^-A $chain " | grep -qE ' 10\.[0-9]+\.' && continue
    printf '%s\n' "$left" | grep -- "-j $chain\$" | grep -q '^-A POSTROUTING' && continue
    printf '%s\n' "$left" | grep -- "-j $chain\$" | each "$table" -D
    "$iptables" -w -t "$table" -F "$chain" 2>/dev/null
    "$iptables" -w -t "$table" -X "$chain" 2>/dev/null
  done
done
exit 0
