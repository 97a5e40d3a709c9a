import { quotedList } from "./lists.ts";
import type { Area, Message } from "./types.ts";

type Image = { image: string };
type Path = { path: string };
type Caused = { cause: Message };

/** What compose files will say after a run, and why that is unknown. */
export const compose = {
  names_already: ({ image }: Image) => `The file already names "${image}"`,
  reverts: ({ image }: Image) =>
    `The file names "${image}": without this edit the next \`docker compose up\` will revert to it`,
  moves: ({ image, running }: Image & { running: string }) =>
    `The file names "${image}" while "${running}" is running: without this edit the next \`docker compose up\` will move to it`,
  then_nothing: "with it the next one recreates nothing",
  then_recreated: ({ image, cause }: Image & Caused, tell) =>
    `with it the next one recreates the container from "${image}" once, because ${tell(cause)}`,
  edit_manually: ({ cause }: Caused, tell) => `it has to be edited manually, because ${tell(cause)}`,
  same_edit: ({ service }: { service: string }) => `it is the same edit as for "${service}"`,
  also_changes: ({ services }: { services: readonly string[] }) => `the same edit changes ${quotedList(services)}`,
  unreadable: ({ service, cause }: Caused & { service: string }, tell) =>
    `The compose file cannot be read (${tell(cause)}): unless the service "${service}" gets this line, the next \`docker compose up\` will revert to the image in the file; with it the container is recreated once`,
  podman: ({ service }: { service: string }) =>
    `\`podman-compose up\` leaves the service "${service}" unchanged as long as its file is not edited; with this line it recreates the container once, and without it anything that recreates the container reverts to the image in the file`,
  shares: ({ cause }: Caused, tell) =>
    `No edit is needed; the next \`docker compose up\` recreates the container once, because it shares something with a container that now has another ID (${tell(cause)})`,

  not_installed: "compose is not installed beside Tidemark",
  not_run: ({ cause }: Caused, tell) => `compose could not be run (${tell(cause)})`,
  no_hashes: "compose reports no hashes for its files",
  no_hashes_edited: "compose reports no hashes for its files once they are edited",
  other_files: "its files were edited since it was created, or shell variables were used",
  edit_changes_more: "the edit changes more of it than its image",
  no_hash_label: "it has no compose hash",
  odd_names: "its labels contain names that compose would not use",
  line_has_more: "the line contains more than the image",
  shared_line: ({ service }: { service: string }) =>
    `"${service}" gets its image from the same line but needs a different one; give one of them a line of its own`,
  service_not_found: "the service was not found there",
  image_not_plain: "the image is not plain text",
  variable_not_found: ({ name }: { name: string }) => `the value of ${name} was not found in a file`,
  image_there_not_plain: "its image there is not plain text",
  image_built: "its image is built from there",
  image_not_there: "there is no image there",
  image_inherited: "its image comes from another service there",
  no_path: "its labels do not say where its compose file is",
  too_many_files: ({ limit }: { limit: number }) => `it was created from more than ${limit} files`,
  not_named_like_one: ({ path }: Path) => `"${path}" is not named like a compose file`,
  not_absolute: ({ path }: Path) => `"${path}" is not an absolute path`,
  leads_elsewhere: ({ path }: Path) => `"${path}" is a link that leads elsewhere`,
  not_regular: ({ path }: Path) => `"${path}" is not a regular file`,
  too_large: ({ path, limit }: Path & { limit: number }) => `"${path}" has more than ${limit} bytes`,
  not_visible: ({ path }: Path) => `"${path}" is not visible to Tidemark`,
  not_allowed: ({ path }: Path) => `Tidemark is not allowed to read "${path}"`,
  not_text: ({ path }: Path) => `"${path}" cannot be read as text`,
} satisfies Area;
