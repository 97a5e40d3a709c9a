import { stringAt } from "../raw.ts";
import type { Variable } from "./conceal.ts";
import type { OwnSettings } from "./member.ts";
import { comment, quoted } from "./shell.ts";

interface Frame {
  name: string;
  members: readonly OwnSettings[];
  notes: readonly string[];
  variables: readonly Variable[];
  with_secrets: boolean;
}

/** The script's purpose, omissions and requirements, and the functions that the rest of it calls. */
export function opening(frame: Frame): readonly string[] {
  const { name, members, notes, variables } = frame;
  const isPodman = members.some(({ engine }) => engine === "podman");
  return [
    "#!/bin/sh",
    comment(
      `Restores ${members.length === 1 ? "the container" : "the containers of"} ${name} as a snapshot of Tidemark holds it.`,
    ),
    comment(
      isPodman
        ? "It needs the podman command (CONTAINER_CLI names another) and the image."
        : "It needs the docker or podman command (CONTAINER_CLI names another) and the image.",
    ),
    comment(
      `Usage: sh restore.sh [--replace]     --replace puts containers of ${members.length === 1 ? "that name" : "these names"} aside first`,
    ),
    "#",
    ...(frame.with_secrets
      ? [
          comment(
            "!! THIS FILE HOLDS SECRETS IN CLEAR TEXT. Keep it as you keep passwords, and delete it after use. !!",
          ),
        ]
      : [
          comment(
            "Without secrets: values that look like one are taken from the environment. They are recognised by their",
          ),
          comment("names and forms, so look through the file before you give it to somebody."),
          ...variables.map(({ variable, meaning }) => comment(`  ${variable}: ${meaning}`)),
        ]),
    "#",
    ...(notes.length === 0
      ? []
      : [comment("Not restored as it was:"), ...notes.map((each) => comment(`  ${each}`)), "#"]),
    comment("Data is not part of a snapshot: volumes and folders are used as they are found."),
    "",
    ...functions(isPodman ? ["podman"] : ["docker", "podman"]),
    ...(isPodman ? ofPodman : []),
    "",
    ...variables.flatMap(({ variable, meaning }) => [
      `[ -n "\${${variable}+set}" ] || tm_missing=$tm_missing${quoted([`\n  ${variable}: ${meaning}`])}`,
    ]),
    'if [ -n "$tm_missing" ]; then',
    '  tm_warn "Set these variables to what they were, and run it again:$tm_missing"',
    "  exit 2",
    "fi",
    "",
    ...notes.map((each) => `tm_say ${quoted([`Note: ${each}`])}`),
    ...[...new Set(members.map(({ host }) => stringAt(host.Pod)))]
      .filter((pod) => pod !== "")
      .map((pod) => `tm_pod ${quoted([pod])}`),
  ];
}

const functions = (commands: readonly string[]) =>
  `set -eu
tm_replace=no
tm_missing=
tm_current=
tm_log=
tm_now=$(date +%Y%m%d%H%M%S)

tm_say() { printf '%s\\n' "$*"; }
tm_warn() { printf '%s\\n' "$*" >&2; }
tm_fail() { tm_warn "$*"; exit 1; }

case "\${1-}" in
  '') ;;
  --replace) tm_replace=yes ;;
  *) tm_fail 'Usage: sh restore.sh [--replace]' ;;
esac

tm_cli=\${CONTAINER_CLI-}
if [ -z "$tm_cli" ]; then
  for tm_name in ${commands.join(" ")}; do
    if [ -z "$tm_cli" ] && command -v "$tm_name" >/dev/null 2>&1; then tm_cli=$tm_name; fi
  done
  [ -n "$tm_cli" ] || tm_fail 'Install one of these first: ${commands.join(", ")}'
fi

# By its whole name: the engine would also take the beginning of an id.
tm_exists() {
  tm_found=$("$tm_cli" container inspect --format '{{.Name}}' "$1" 2>/dev/null) || return 1
  [ "\${tm_found#/}" = "$1" ]
}

tm_refuse() {
  if tm_exists "$1" && [ "$tm_replace" = no ]; then
    tm_fail "There is a container $1 already; --replace puts it aside first"
  fi
}

tm_id() {
  tm_found=$("$tm_cli" image inspect --format '{{.Id}}' "$1" 2>/dev/null) || tm_found=
  printf '%s' "\${tm_found#sha256:}"
}

# ID REFERENCE DIGEST: answers in tm_image what the container is to be made from.
tm_fetch() {
  tm_image=$2
  tm_wanted=\${1#sha256:}
  if [ "$(tm_id "$2")" = "$tm_wanted" ]; then return; fi
  tm_source=$1
  if [ -z "$(tm_id "$1")" ]; then
    [ -n "$3" ] || tm_fail "The image $2 ($1) is not here, and it was never pulled from a registry"
    tm_source=$3
    tm_say "Pulling $3"
    "$tm_cli" pull "$3"
  fi
  case "$2" in
    *@*) if [ -z "$(tm_id "$2")" ]; then tm_image=$tm_source; fi ;;
    sha256:*) tm_image=$tm_source ;;
    *) "$tm_cli" tag "$tm_source" "$2" ;;
  esac
}

tm_network() {
  if "$tm_cli" network inspect "$1" >/dev/null 2>&1; then return; fi
  tm_name=$1
  shift
  tm_say "The network $tm_name is not here: it is created with the engine's defaults"
  "$tm_cli" network create "$@" "$tm_name" >/dev/null
}

tm_volume() {
  if "$tm_cli" volume inspect "$1" >/dev/null 2>&1; then return; fi
  tm_say "The volume $1 is not here: an EMPTY one is created"
  "$tm_cli" volume create --driver="$2" "$1" >/dev/null
}

tm_aside() {
  if ! tm_exists "$1"; then return; fi
  tm_say "Stopping $1; it is kept as $1-before-$tm_now"
  "$tm_cli" stop "$1" >/dev/null
  # Else the engine would start it again beside the new one when it restarts itself.
  "$tm_cli" update --restart=no "$1" >/dev/null 2>&1 || tm_warn "The restart policy of $1-before-$tm_now could not be taken away"
  "$tm_cli" rename "$1" "$1-before-$tm_now"
  tm_log="$tm_log
  $1-before-$tm_now: what was there before, stopped; remove it when all is well"
}

tm_start() { "$tm_cli" start "$1" >/dev/null; }
tm_made() {
  tm_log="$tm_log
  $1: $2"
  tm_current=
}

tm_decode() {
  if command -v base64 >/dev/null 2>&1; then base64 -d; else openssl base64 -d; fi
}

tm_end() {
  tm_status=$?
  if [ "$tm_status" -ne 0 ]; then
    if [ -n "$tm_current" ]; then tm_warn "Failed at $tm_current"; fi
    if [ -n "$tm_log" ]; then tm_warn "Done so far:$tm_log"; fi
    case "$tm_log" in
      *-before-"$tm_now"*) tm_warn "To go back: remove the new ones, rename the ones kept to their names, give them their restart policies and start them" ;;
    esac
  fi
}
trap tm_end EXIT

"$tm_cli" version >/dev/null 2>&1 || tm_fail "$tm_cli does not reach an engine"`.split("\n");

/** The runtime is an option of the whole command, which a remote client does not have. */
const ofPodman = `
case "$("$tm_cli" --version 2>/dev/null)" in
  podman*) ;;
  *) tm_fail "This is a snapshot of Podman containers: $tm_cli cannot restore all of their settings" ;;
esac

tm_pod() { "$tm_cli" pod exists "$1" || tm_fail "There is no pod $1: create it, and put its id in the place of this one in the script"; }

tm_create() {
  tm_runtime=$1
  shift
  if "$tm_cli" --runtime="$tm_runtime" version >/dev/null 2>&1; then
    "$tm_cli" --runtime="$tm_runtime" "$@" >/dev/null
  else
    tm_warn "This client cannot choose the runtime $tm_runtime: the engine's default is used"
    "$tm_cli" "$@" >/dev/null
  fi
}`.split("\n");

export const closing: readonly string[] = ['tm_say "Done:$tm_log"'];
