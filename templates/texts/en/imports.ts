import { formatNumber, plural } from "../../format.ts";

const number = (count: number) => formatNumber("en", count);

export const imports = {
  title: "Import trackers",
  lead: "From a compose file, a list of images, or another tool's configuration",
  open: "Import",
  show: "Preview",
  show_again: "Refresh preview",
  found: (count: number) =>
    count === 0 ? "No tracker found" : plural("en", count, { one: "tracker found", other: "trackers found" }),
  read_as: {
    compose: "Read as a compose file",
    images: "Read as a list of images",
    diun: "Read as a Diun file",
    argus: "Read as an Argus configuration",
    release_tracker: "Read as ReleaseTracker trackers",
  },
  add: "Add selected trackers",
  added: (count: number) =>
    `Added ${plural("en", count, { one: "tracker", other: "trackers" })}. The first checks start shortly`,
  choose: (name: string) => `Add ${name}`,
  running: "Running",
  not_running: "not specified",
  proposed: "Proposed",
  takes_all: "All versions",
  versions_instead: "Follow numbered versions instead",
  found_in: "Found in",
  exists: (name: string) => `Already tracked as ${name}`,
  invalid: "Cannot be added",
  skipped: (count: number) => `${number(count)} skipped`,
  remarks: {
    digest_dropped: (subject: string) => `Follows tags instead of the digest ${subject}…`,
    line_kept: (subject: string) => `Stays on ${subject}`,
    variant_kept: (subject: string) => `Keeps ${subject}`,
    tag_followed: (subject: string) => `Follows the tag ${subject}: an update is a new image under that tag`,
    tag_unknown: (subject: string) => `The tag comes from ${subject}: enter its value under Variables`,
    series_unknown: (subject: string) =>
      `The tag ${subject} moves on to the next major version, which may not be able to read existing data: enter the version that is running`,
    pattern_refused: (subject: string) => `The pattern ${subject} is not supported and was left out`,
    credential_missing: (subject: string) => `Uses ${subject} to sign in: choose a credential after adding it`,
    page_source_skipped: (subject: string) => `The page ${subject} is not tracked`,
    channel_disabled: (subject: string) => `The channel ${subject} was disabled and is skipped`,
  },
};
