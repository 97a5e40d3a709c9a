import { quotedList } from "./lists.ts";
import type { Area, Message } from "./types.ts";

type Version = { version: string };
type Keys = { keys: readonly string[] };

/** Release notes from a changelog: its settings, and why a version has none. */
export const changelogs = {
  path_wanted: "Enter the path of the changelog",
  path_from_root: "Enter the path from the root of the repository, without / at its start",
  path_backslash: "Separate folders with /",
  path_dots: 'Remove ".." and "." from the path',
  path_empty_part: "Enter a file, without an empty folder name",
  path_open_brace: "Close each { with }",
  unknown_placeholder: ({ placeholder, known }: { placeholder: string; known: readonly string[] }) =>
    `"${placeholder}" is not a placeholder; use ${known.join(", ")}`,
  heading_without_version: "Use `{tag}` or `{version}` in place of the version",
  ref_wanted: "Enter a branch, a tag or a commit",
  ref_invalid: "This is not the name of a branch, a tag or a commit",
  subheading_wanted: "Enter the start of the subheading",
  repository_wanted: "A custom changelog needs a repository among the tracker's sources; add one first",
  source_wanted: ({ keys }: Keys) => `Choose the source that has the changelog: ${quotedList(keys)}`,
  no_such_source: ({ key, keys }: Keys & { key: string }) =>
    `The tracker has no repository source "${key}"; choose ${quotedList(keys)}`,

  no_file: ({ path }: { path: string }) => `There is no file "${path}" on the default branch`,
  no_file_at: ({ path, ref }: { path: string; ref: string }) => `There is no file "${path}" at "${ref}"`,
  version_lacks: ({ version, placeholder }: Version & { placeholder: string }) =>
    `The version ${version} has no value for ${placeholder} in the path`,
  tag_gives_no_path: ({ tag, path }: { tag: string; path: string }) =>
    `The tag ${tag} does not give the path of a file: ${path}`,
  template_unusable: ({ version, cause }: Version & { cause: Message }, tell) =>
    `The heading template cannot be used for ${version}: ${tell(cause)}`,
  too_large: ({ mib, limit }: { mib: number; limit: number }) =>
    `The changelog has ${mib} MiB; at most ${limit} MiB are read`,
  empty: "The changelog is empty",
  no_section: ({ version }: Version) => `The changelog has no section for ${version}`,
  empty_section: ({ version }: Version) => `The section for ${version} in the changelog is empty`,
  no_subheading: ({ version, subheading }: Version & { subheading: string }) =>
    `The section for ${version} in the changelog has no subheading "${subheading}"`,
  unreadable: ({ cause }: { cause: Message }, tell) => `The changelog could not be read: ${tell(cause)}`,
  internal: "The changelog could not be read because of an internal error; the log has the details",
  no_repository: "The tracker has no repository source for its changelog",
} satisfies Area;
