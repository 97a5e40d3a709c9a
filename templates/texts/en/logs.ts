import { plural } from "../../format.ts";

export const logs = {
  title: "Logs",
  title_of: (executor: string) => `Logs of ${executor}`,
  lead: "Read from the containers when you open this page. Nothing is stored, and known secrets are masked.",
  lines_label: "Log lines",
  lines: "Lines per container",
  containers: "Containers",
  show: "Show",
  reload: "Reload",
  pause: "Pause",
  follow: "Follow",
  continue: "Continue",
  states: { running: "Running", waiting: "Waiting", stopped: "Stopped" },
  status: {
    connecting: "Connecting",
    following: "Following",
    paused: "Paused; new lines are held back",
    ended: "Ended",
  },
  nothing: "No lines yet.",
  none: "The target has no containers.",
  more: (count: number) =>
    `${plural("en", count, { one: "more container is", other: "more containers are" })} not shown; choose containers above.`,
  skipped: (count: number | null) =>
    count === null ? "Some lines skipped" : `${plural("en", count, { one: "line", other: "lines" })} skipped`,
  skipped_paused: "{count} lines skipped while paused",
  restarted: (name: string) => `${name} was restarted`,
  ended_title: "The log view has ended",
  again: "Tidemark tries again every 10 seconds and continues when the logs can be read.",
  lost_text: "Continue, or reload the page to see why.",
  failed: "The logs could not be read",
  not_live: "New lines are not followed",
};
