export const events = {
  title: "Events",
  new_release: "New release",
  older_line: "Older line",
  older_version: "Older version",
  newest_is: "newest is still",
  republish: "Republished",
  executor_run_succeeded: "Run succeeded",
  executor_run_failed: "Run failed",
  executor_run_skipped: "Run skipped",
  executor_run_awaiting_approval: "Run awaits approval",
  executor_target_recovered: "Target is running again",
  test: "Test message",
};
