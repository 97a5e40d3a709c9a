import { quotedList } from "./lists.ts";
import type { Area, Message } from "./types.ts";

/**
 * What Podman does not report, or does differently from Docker. `untold_options` and `created_by_api` stay word for word: an executor's
 * `accepted_unknown_settings` quote them.
 */
export const podman = {
  from_folder: ({ path }: { path: string }) => `It was created from the folder "${path}", not from an image`,
  secrets: ({ names }: { names: readonly string[] }) =>
    `It uses the secrets ${quotedList(names)}, and Podman does not report whether each is a file or a variable, or where`,
  foreign_namespace: ({ path }: { path: string }) =>
    `It joins the network namespace "${path}", which belongs to none of the containers`,
  pid_file: ({ path }: { path: string }) =>
    `Its process ID is written to "${path}" (\`--pidfile\`), which cannot be set through the Podman API`,
  service_container: "It is the service container of a Kubernetes file, which Podman creates and removes itself",
  kube_play: "It was created from a Kubernetes file; change the image there and play the file again",
  id_file: ({ path }: { path: string }) =>
    `The file "${path}" (\`--cidfile\`) will still contain the ID of the current container`,
  compose_unit: ({ unit }: { unit: string }) =>
    `If the systemd unit "${unit}" is installed and started, it stops the whole project once each of its containers has been stopped; stop the unit before the update and start it again afterwards`,

  created_by_api:
    "It was created through the API. For such containers Podman does not report chosen addresses and interface names, kernel parameters, rights on devices, a host or private IPC mode, and which variables come from secrets: these are not carried over",
  untold_options: ({ options }: { options: readonly Message[] }, tell) =>
    `It was made with ${options.map(tell).join(", ")}, which Podman does not tell completely`,
  option: ({ what, option }: { what: Message; option: string }, tell) => `${tell(what)} (--${option})`,
  device_rules: "rules for devices",
  device_rights: "rights on a device",
  gpus: "GPUs",
  masked_paths: "masked paths",
  storage_options: "storage options",
  personality: "a personality",
  passwd_entry: "an entry of /etc/passwd or /etc/group",
  host_users: "users of the host",
  root_folder: "a root file system in place of an image",
  init_program: "an init program of its own",
  init_container: "being an init container",
  open_files: "open file descriptors",
  unset_variables: "variables of the image taken away",
  image_volumes: "how volumes of the image are treated",
  overlay: "an overlay mount",
  own_hosts: "its own /etc/hosts",
  own_resolv_conf: "its own /etc/resolv.conf",
  seccomp_policy: "a seccomp policy",
  network_option: "an option of a network",
} satisfies Area;
