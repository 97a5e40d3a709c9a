import type { Texts } from "../texts.ts";

export const events = {
  title: "事件",
  new_release: "新版本",
  older_line: "旧版本线",
  older_version: "较旧版本",
  newest_is: "最新版本仍是",
  republish: "重新发布",
  executor_run_succeeded: "运行成功",
  executor_run_failed: "运行失败",
  executor_run_skipped: "运行已跳过",
  executor_run_awaiting_approval: "运行等待批准",
  executor_target_recovered: "目标已恢复运行",
  connection_lost: "连接已断开",
  connection_recovered: "连接已恢复",
  upstream_unreachable: "上游没有响应",
  upstream_recovered: "上游已恢复",
  credential_refused: "凭据被拒绝",
  credential_recovered: "凭据恢复可用",
  test: "测试消息",
} satisfies Texts["events"];
