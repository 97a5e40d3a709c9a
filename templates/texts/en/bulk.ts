import { formatNumber, plural } from "../../format.ts";

/** Selecting rows of a list. */
export const selection = {
  bar: "Actions on the selection",
  /** `#` is the number, which the browser counts. */
  count: "# selected",
  choose: (name: string) => `Select ${name}`,
  all_shown: "Select all shown",
  all_matching: (count: number) => `All ${formatNumber("en", count)} that match`,
  more: "More",
};

const executors = (count: number) => plural("en", count, { one: "executor", other: "executors" });
const trackers = (count: number) => plural("en", count, { one: "tracker", other: "trackers" });
const failed = (count: number) => plural("en", count, { one: "failed run", other: "failed runs" });
const are = (count: number) => plural("en", count, { one: "executor is", other: "executors are" });

/** The same action on several executors. */
export const bulk = {
  actions: {
    update: "Update",
    approve: "Approve",
    check: "Check",
    hold: "Hold updates",
    resume: "Resume updates",
    dismiss: "Dismiss failures",
    undismiss: "Show again",
    enable: "Enable",
    disable: "Disable",
    delete: "Delete",
  },
  titles: {
    update: (count: number) => `Update ${executors(count)}?`,
    approve: (count: number) => `Approve ${plural("en", count, { one: "plan", other: "plans" })}?`,
    delete: (count: number) => `Delete ${executors(count)}?`,
  },
  verbs: { update: "Start updates", approve: "Approve plans", delete: "Delete executors" },
  nothing: { update: "Nothing to update", approve: "Nothing to approve", delete: "Nothing to delete" },
  none_selected: "No executor is selected",
  select_one: "Select at least one in the list.",
  include: (name: string) => `Include ${name}`,
  update_text:
    "Each run follows exactly the plan shown here. A run that fails does not stop the others. If a plan changes before its run starts, that run is refused.",
  approve_text: "Each run follows exactly the plan that it requests approval for.",
  delete_text:
    "Their runs and snapshots are deleted too and cannot be recovered. What they update keeps running unchanged.",
  delete_snapshots: (count: number) =>
    count === 1 ? "1 of them has snapshots" : `${formatNumber("en", count)} of them have snapshots`,
  left_out: (count: number) => `${are(count)} left out`,
  update_safe: "Update all safe",
  safe_title: (count: number) => `Install ${plural("en", count, { one: "safe update", other: "safe updates" })}?`,
  safe_text:
    "An update is safe if it is a small step forward without warnings or announced breaking changes, you have not put it off or rolled it back, the last run did not fail, and it can be rolled back.",
  safe_without_notes: (count: number, all: number) =>
    count === all && all > 1
      ? "None of them has a source of release notes. Safe only means a small step: breaking changes would not be noticed."
      : `${all === 1 ? "It has" : plural("en", count, { one: "of them has", other: "of them have" })} no source of release notes. Safe only means a small step here: breaking changes would not be noticed.`,
  not_safe: (count: number) => `${plural("en", count, { one: "update needs", other: "updates need" })} review first`,
  undo_gone: "It is too late to undo this here. Select the rows and choose the opposite action.",
  none_safe: "No update is safe to install without review",
  no_update: "No executor has an update.",
  not_looked_at: (count: number) =>
    `${plural("en", count, { one: "more update has", other: "more updates have" })} not been checked yet. Come back after these.`,
  planning: (count: number) => `Creating ${plural("en", count, { one: "plan", other: "plans" })}`,
  planning_text: "This takes a few seconds. Nothing is updated before you confirm.",
  show_plans: "Show plans",
  expected_downtime: (time: string) => `${time} downtime expected`,
  results: {
    update: (count: number) =>
      count === 0 ? "No update started" : `Started ${plural("en", count, { one: "update", other: "updates" })}`,
    approve: (count: number) =>
      count === 0 ? "Nothing approved" : `Approved ${plural("en", count, { one: "plan", other: "plans" })}`,
    check: (count: number) => (count === 0 ? "No tracker checked" : `Checking the trackers of ${executors(count)}`),
    hold: (count: number) => (count === 0 ? "Nothing to hold" : `Updates of ${executors(count)} are on hold`),
    resume: (count: number) => (count === 0 ? "Nothing to resume" : `Resumed updates of ${executors(count)}`),
    dismiss: (count: number) => (count === 0 ? "Nothing to dismiss" : `Dismissed ${failed(count)}`),
    undismiss: (count: number) =>
      count === 0
        ? "Nothing to show again"
        : `${plural("en", count, { one: "failed run needs", other: "failed runs need" })} attention again`,
    enable: (count: number) => (count === 0 ? "Nothing to enable" : `Enabled ${executors(count)}`),
    disable: (count: number) => (count === 0 ? "Nothing to disable" : `Disabled ${executors(count)}`),
    delete: (count: number) => (count === 0 ? "Nothing deleted" : `Deleted ${executors(count)}`),
  },
  /** After a result. */
  and_not_done: (count: number) => `, ${formatNumber("en", count)} not done`,
  outcomes: { unchanged: "Unchanged", refused: "Not done" },
  done: {
    update: "Run started",
    approve: "Approved",
    check: "Checking",
    hold: "On hold",
    resume: "Resumed",
    dismiss: "Dismissed",
    undismiss: "Shown again",
    enable: "Enabled",
    disable: "Disabled",
    delete: "Deleted",
  },
  gone_title: "Result no longer available",
  gone_text:
    "Only the last 50 results are kept, and none after a restart. The runs that were started are listed under Runs.",
  to_list: "Back to executors",
  to_runs: "Runs",
};

/** The same action on several trackers; the words of actions and outcomes are those of executors. */
export const tracker_bulk = {
  delete_title: (count: number) => `Delete ${trackers(count)}?`,
  delete_verb: "Delete trackers",
  delete_text: "This deletes their sources, version history and rules. Events already sent are kept.",
  nothing_to_delete: "Nothing to delete",
  none_selected: "No tracker is selected",
  select_one: "Select at least one in the list.",
  left_out: (count: number) => `${plural("en", count, { one: "tracker is", other: "trackers are" })} left out`,
  results: {
    check: (count: number) => (count === 0 ? "No tracker checked" : `Checking ${trackers(count)}`),
    enable: (count: number) => (count === 0 ? "Nothing to enable" : `Enabled ${trackers(count)}`),
    disable: (count: number) => (count === 0 ? "Nothing to disable" : `Disabled ${trackers(count)}`),
    delete: (count: number) => (count === 0 ? "Nothing deleted" : `Deleted ${trackers(count)}`),
  },
  gone_text: "Only the last 50 results are kept, and none after a restart. The list shows the current state.",
  to_list: "Back to trackers",
};
