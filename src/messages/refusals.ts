import { quotedList } from "./lists.ts";
import type { Area, Message } from "./types.ts";

type Named = { name: string };
type Caused = { cause: Message };
type Names = { names: readonly string[] };

/** Why a container cannot be updated or rolled back, and what to know before. */
export const refusals = {
  not_updatable: ({ name, cause }: Named & Caused, tell) => `"${name}" cannot be updated: ${tell(cause)}`,

  leftover: ({ name }: Named) => `It is a backup kept by an update of "${name}", not a target`,
  leftovers: ({ name, names }: Named & Names) =>
    `An earlier update left ${quotedList(names)}; check "${name}", then remove them`,
  auto_remove: "It was started with `--rm`: the engine removes it when it stops, so it could not be restored",
  systemd_owned: ({ unit }: { unit: string }) =>
    `The systemd unit "${unit}" manages it; change the image in the unit instead`,
  pod_infra: "It is the infrastructure container of a pod and has no image to update",
  swarm_task: "It is a task of a swarm service; swarm replaces its tasks itself",
  paused: "It is paused; resume or stop it first, so that its state after the update is clear",
  being_removed: ({ state }: { state: string }) => `The engine is removing it (state "${state}")`,
  own_container: "Tidemark runs in it and would stop itself in the middle of the update",
  own_connection: "The connection to this engine goes through it and would break in the middle of the update",
  own_data: "It mounts the volume with Tidemark's own data",
  volume_unnamed: ({ path }: { path: string }) =>
    `The engine does not report the name of the volume at "${path}", so it could not be mounted again`,
  network_lost: ({ network }: { network: string }) =>
    `It lost the network "${network}" when the engine failed to start it. Reconnect it with \`docker network connect\` or recreate it, then start it`,
  network_suspect:
    "The engine failed to connect it at its last start and may have dropped a network. Check its networks, then start it",
  mac_unknown: ({ networks }: { networks: readonly string[] }) =>
    `It may have a custom MAC address on ${quotedList(networks)}; the engine reports that only while the container is running`,
  image_missing: ({ id }: { id: string }) => `The image that it was created from (${id}) is no longer on the engine`,
  image_by_id: "It was created from an image ID, which has no repository name",
  volumes_from_missing: "A container that it takes volumes from no longer exists",
  platform_mismatch: ({ image, container }: { image: string; container: string }) =>
    `The new image is for ${image}, the container runs ${container}`,
  hidden_settings: ({ api, settings, newest }: { api: string; settings: readonly string[]; newest: string }) =>
    `The connection uses API ${api}, which does not show ${settings.join(", ")}; the engine's API ${newest} does`,
  requires_leftover: ({ name }: Named) =>
    `It requires "${name}", a container kept by an earlier update, which would be started with it; recreate this container with its original command`,
  requires_stopped: ({ name }: Named) =>
    `It requires "${name}", which is not running and would be started with it; start "${name}" first, or stop both`,
  requires_ended: ({ name }: Named) =>
    `It requires "${name}", which has completed: the engine runs that again whenever it starts this one`,
  compose_file:
    "The compose file names the image too: after an update, change it there, or the next `docker compose up` will revert the update",
  replicas_differ: ({ service }: { service: string }) =>
    `The replicas of "${service}" differ from each other; make them equal with \`docker compose up\` first`,
  has_dependents: ({ name, cause }: Named & Caused, tell) =>
    `"${name}" depends on it and cannot be recreated: ${tell(cause)}`,
  dependency_cycle: ({ names }: Names) =>
    `${quotedList([...names, names[0] ?? ""], " depends on ")}: there is no order in which they could be updated`,
  job: "It completes by design and is run once from the new image; restoring the previous container does not undo what it did",

  start_first: ({ name, cause }: Named & Caused, tell) =>
    `"${name}" cannot run beside its successor: ${tell(cause)}; turn "Start before stop" off`,
  publishes_ports: "it publishes host ports",
  uses_network: ({ network }: { network: string }) => `it uses the network "${network}"`,
  fixed_address: "it has a fixed address",
  fixed_mac_address: "it has a fixed MAC address",
  others_depend: ({ names }: Names) => `${quotedList(names)} ${names.length === 1 ? "depends" : "depend"} on it`,

  files_too_large: (p: {
    name: string;
    files: number;
    bytes: number;
    most_files: number;
    most_bytes: number;
    largest: readonly string[];
  }) =>
    `Compose put ${p.files} files with ${p.bytes} bytes into "${p.name}"; at most ${p.most_files} files with ${p.most_bytes} bytes are carried over; the largest: ${quotedList(p.largest)}`,
  files_too_many: ({ name, files, limit }: Named & { files: number; limit: number }) =>
    `"${name}" has ${files} changed files outside its volumes; files written by compose are searched among at most ${limit}. Keep its data in a volume`,
  files_unreadable: ({ name, cause }: Named & Caused, tell) =>
    `The files that compose put into "${name}" cannot be read and would be lost: ${tell(cause)}`,
  file_changed: ({ path }: { path: string }) => `"${path}" changed while it was read from the container`,
  files_over_limit: ({ path, bytes }: { path: string; bytes: number }) =>
    `The files up to "${path}" have more than ${bytes} bytes together`,
  file_path_escapes: "The archive has a path that leads out of the container",
  files_not_written: ({ paths }: { paths: readonly string[] }) =>
    `The engine did not write every file of compose as it was: ${paths.join(", ")}`,

  tls_not_verified: ({ host }: { host: string }) =>
    `The certificate of ${host} is not verified; anyone on the network path can read and change what is sent`,
  plain_tcp: ({ host }: { host: string }) =>
    `Without a TLS credential ${host} is reached over plain TCP: anyone who can reach it has root access to that machine`,
} satisfies Area;
