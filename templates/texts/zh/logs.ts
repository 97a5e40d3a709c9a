import { formatNumber } from "../../format.ts";
import type { Texts } from "../texts.ts";

export const logs: Texts["logs"] = {
  title: "日志",
  title_of: (executor) => `“${executor}”的日志`,
  lead: "打开此页面时从容器读取。不会存储任何内容，已知的机密会被遮盖。",
  lines_label: "日志行",
  lines: "每个容器的行数",
  containers: "容器",
  show: "显示",
  reload: "重新加载",
  pause: "暂停",
  follow: "实时显示",
  continue: "继续",
  states: { running: "运行中", waiting: "等待中", stopped: "已停止" },
  status: {
    connecting: "正在连接",
    following: "正在实时显示",
    paused: "已暂停；新行暂不显示",
    ended: "已结束",
  },
  nothing: "暂无日志行。",
  none: "目标没有容器。",
  more: (count) => `另有 ${formatNumber("zh", count)} 个容器未显示；请在上方选择容器。`,
  skipped: (count) => (count === null ? "已跳过若干行" : `已跳过 ${formatNumber("zh", count)} 行`),
  skipped_paused: "暂停期间已跳过 {count} 行",
  restarted: (name) => `“${name}”已重启`,
  ended_title: "日志视图已结束",
  again: "Tidemark 每 10 秒重试一次，日志可读后会自动继续。",
  lost_text: "请继续，或刷新页面查看原因。",
  failed: "无法读取日志",
  not_live: "不会实时显示新行",
};
