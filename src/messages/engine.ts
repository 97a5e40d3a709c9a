import type { Area, Message } from "./types.ts";

type Named = { name: string };
type Caused = { cause: Message };
/** Method and path of a request to the engine. */
type Requested = { request: string };
type Range = { min: string; max: string };

const span = (ms: number) => (ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`);

/** Responses of an engine, and missing ones. */
export const engine = {
  container: "Container",
  compose_group: "Compose group",

  is_podman: ({ version }: { version: string }) =>
    `The engine at this address is Podman ${version}, not Docker; choose "Podman" as the connection's type`,
  is_not_podman: 'The engine at this address is not Podman; choose "Docker Engine" as the connection\'s type',
  podman_too_old: ({ version, oldest }: { version: string; oldest: string }) =>
    `The engine is Podman ${version}, and the oldest supported version is ${oldest}; update the engine`,
  api_not_offered: ({ min, max, wanted }: Range & { wanted: string }) =>
    `The engine supports API ${min} to ${max}, and the connection asks for ${wanted}; enter a supported version, or leave it blank`,
  api_not_shared: ({ min, max, own_min, own_max }: Range & { own_min: string; own_max: string }) =>
    `The engine supports API ${min} to ${max}, and Tidemark ${own_min} to ${own_max}; update whichever is older`,
  too_many_containers: ({ count, limit }: { count: number; limit: number }) =>
    `The engine has ${count} containers; at most ${limit} are supported`,
  requests_blocked: ({ requests }: { requests: readonly string[] }) =>
    `Requests to the engine are blocked: ${requests.join(", ")}; allow them at the socket proxy`,
  address_wanted:
    'Enter the address as unix:///path/to/socket, /path/to/socket or tcp://host:port; turn off "TLS verification" for plain HTTP',
  version_wanted: "Enter the version as 1.41, or leave it blank",
  registry_wanted: "Enter the registry as host or host:port",

  refused: ({ request, status, answer }: Requested & { status: number; answer: string | null }) =>
    `The engine refused ${request} (${status})${answer === null ? "" : `: ${answer}`}`,
  port_held: ({ cause, port, holder }: Caused & { port: string; holder: string }, tell) =>
    `${tell(cause)}. "${holder}" publishes port ${port}`,
  port_not_released: ({ cause, port }: Caused & { port: string }, tell) =>
    `${tell(cause)}. No container publishes port ${port}: the engine did not release it. Restart the engine to free it`,
  no_answer: ({ request, cause }: Requested & Caused, tell) =>
    `The engine did not respond to ${request}: ${tell(cause)}`,
  answers_plain_http: 'it uses plain HTTP; turn off "TLS verification", or enter the port that uses TLS',
  socket_unused:
    "no engine listens at the socket; start the engine, and if Tidemark runs in a container, mount the socket into it again",
  other_service: ({ cause }: Caused, tell) =>
    `${tell(cause)}. Check the address: another service may be responding there`,
  silent: ({ ms }: { ms: number }) => `timed out after ${span(ms)}`,
  stopped: "the work was stopped",
  endless: ({ ms }: { ms: number }) => `it did not complete within ${span(ms)}`,
  odd_status: ({ status }: { status: number }) => `its status is ${status}`,
  redirects: ({ status }: { status: number }) => `it is a redirect (${status}), which is not followed`,
  too_large: ({ limit }: { limit: number }) => `more than ${limit} bytes`,
  broken_off: "the connection broke in the middle of the response",
  ended_early: "the response ended early",
  not_sent: ({ request }: Requested) => `${request} was not sent: the work was stopped`,
  malformed: ({ request, start }: Requested & { start: string }) =>
    `The response to ${request} is not a valid engine response: ${start}`,
  no_file_facts: ({ request }: Requested) => `The response to ${request} has no file information`,
  no_archive: ({ request }: Requested) => `The response to ${request} is not an archive`,
  archive_unreadable: ({ cause }: Caused, tell) => `The engine's archive cannot be read: ${tell(cause)}`,

  no_container: ({ name }: Named) => `There is no container "${name}" on the engine`,
  no_group: ({ name }: Named) => `There is no compose group "${name}" on the engine`,
  no_service: ({ name, service }: Named & { service: string }) => `"${name}" has no service "${service}"`,
  networks_lost: ({ name }: Named) => `"${name}" lost its networks when the engine failed to start it`,
  container_changed: ({ name }: Named) =>
    `The container "${name}" has changed since the plan was made; review the plan again`,
  group_changed: ({ name }: Named) =>
    `The compose group "${name}" has changed since the plan was made; review the plan again`,

  pull_failed: ({ reference, answer }: { reference: string; answer: string }) =>
    `The engine could not pull ${reference}: ${answer}`,
  pull_malformed: ({ reference, start }: { reference: string; start: string }) =>
    `The engine's response to the pull of ${reference} is invalid: ${start}`,
  pull_endless_line: ({ reference }: { reference: string }) =>
    `The engine's response to the pull of ${reference} has an endless line`,
  pull_silent: ({ reference }: { reference: string }) => `The pull of ${reference} ended without a response`,
  pull_without_image: ({ reference }: { reference: string }) => `The pull of ${reference} returned no image`,
  pulled_another: ({ digest }: { digest: string }) => `After the pull, the engine has an image other than ${digest}`,
  snapshot_image_differs: ({ reference }: { reference: string }) =>
    `The registry's ${reference} is not the image in the snapshot`,
  image_not_pulled: ({ reference }: { reference: string }) =>
    `The image "${reference}" is not on the engine; prepare the plan first`,
  image_used: ({ id }: { id: string }) => `The image "${id}" is used by a container and was kept`,
  image_renamed_again: ({ id }: { id: string }) => `The image "${id}" keeps getting new names`,
} satisfies Area;
