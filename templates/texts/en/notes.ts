import { plural } from "../../format.ts";

export const notes = {
  title: "Release notes",
  title_of: (version: string) => `Release notes of ${version}`,
  of_tracker: (tracker: string) => `Release notes of ${tracker}`,
  count: (versions: number) => plural("en", versions, { one: "version", other: "versions, the newest first" }),
  down: "Going back gives these versions up",
  unknown: "What runs now cannot be compared with this version; these are its notes alone",
  none: "No version between the two has been found",
  none_text: "The tracker knows only what its checks have fetched. See its versions for what that is.",
  no_notes_between: "Upstream published no notes with these versions.",
  no_notes: "No notes were published with this version.",
  failed: "The notes could not be taken from the changelog",
  too_long: "These notes are too long to be shown beside the others.",
  breaking: "Breaking changes",
  breaking_in: (version: string) => `In ${version}`,
  more: (count: number) => `and ${plural("en", count, { one: "more line", other: "more lines" })} in the notes`,
  omitted: (count: number) =>
    `${plural("en", count, { one: "older version is", other: "older versions are" })} left out`,
  upstream: "Upstream",
  show: "Show the notes",
  loading: "Reading the notes",
  source: "Release notes",
  from_release: "from the releases",
  from_changelog: (path: string) => `from the changelog ${path}`,
};
