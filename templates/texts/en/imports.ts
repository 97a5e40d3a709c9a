import { formatNumber, plural } from "../../format.ts";

const number = (count: number) => formatNumber("en", count);

export const imports = {
  title: "Import trackers",
  lead: "From a compose file, a list of images, or what another tool has",
  open: "Import",
  show: "Show what would be created",
  show_again: "Read the text again",
  found: (count: number) =>
    count === 0 ? "No tracker found" : plural("en", count, { one: "tracker found", other: "trackers found" }),
  read_as: {
    compose: "Read as a compose file",
    images: "Read as a list of images",
    diun: "Read as a file of Diun",
    argus: "Read as a configuration of Argus",
    release_tracker: "Read as trackers of ReleaseTracker",
  },
  create: "Create the chosen trackers",
  created: (count: number) =>
    `Created ${plural("en", count, { one: "tracker", other: "trackers" })}. The first checks are on the way`,
  none_chosen: "Choose at least one tracker",
  choose: (name: string) => `Create ${name}`,
  running: "Running",
  not_running: "not stated",
  proposed: "Proposed",
  takes_all: "All versions",
  versions_instead: "Follow numbered versions instead",
  found_in: "Found in",
  exists: (name: string) => `${name} has it already`,
  invalid: "Cannot be created",
  skipped: (count: number) => `${number(count)} left out`,
  remarks: {
    digest_dropped: (subject: string) => `The digest ${subject}… is not followed, the tags are`,
    line_kept: (subject: string) => `Stays on ${subject}`,
    variant_kept: (subject: string) => `Keeps ${subject}`,
    tag_followed: (subject: string) => `Follows the tag ${subject}: an update is a new image under that tag`,
    tag_unknown: (subject: string) => `The tag comes from ${subject}: enter its value under Variables`,
    series_unknown: (subject: string) =>
      `The tag ${subject} moves on to the next major version, which may not read the data of this one: name the version that runs`,
    pattern_refused: (subject: string) => `The pattern ${subject} cannot be taken and was left out`,
    credential_missing: (subject: string) => `Signs in with ${subject}: choose a credential afterwards`,
    page_source_skipped: (subject: string) => `The page ${subject} is not followed`,
    channel_disabled: (subject: string) => `The channel ${subject} was switched off and is left out`,
  },
};
