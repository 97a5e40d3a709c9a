import type { Texts } from "../texts.ts";

export const charts = {
  last_days: "最近 30 天",
  last_hours: "最近 24 小时的请求",
  checks_by_day: "每日检查",
  runs_by_day: "每日运行",
  downtime_by_day: "每日停机时间",
  lag: "每次更新落后于上游的时间",
  succeeded: "成功",
  failed: "失败",
  downtime: "停机时间",
  after_release: "距发布的时间",
  requests: "请求",
  limit: "限额",
  day: "日期",
  hour: "小时",
  update: "更新",
  no_checks: "这段时间内没有检查。",
  no_runs: "这段时间内没有运行。",
  no_downtime: "这段时间内没有停机。",
  no_lag: "还没有更新到发布时间已知的版本。",
  no_requests: "这段时间内没有请求。",
} satisfies Texts["charts"];
