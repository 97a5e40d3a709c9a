import type { charts as english } from "../charts.ts";
import type { Rendering } from "../types.ts";
import { quotedList } from "./lists.ts";

function others(count: number, similar: readonly string[]): string {
  if (count === 0) return "该仓库为空";
  const names = similar.length === 0 ? "" : `，例如${quotedList(similar)}`;
  return `该仓库另有 ${count} 个 Chart${names}`;
}

export const charts = {
  missing: ({ chart, count, similar }) => `其中没有 Chart“${chart}”；${others(count, similar)}`,
  tags_are_no_versions: ({ count, name, example }) => `“${name}”的 ${count} 个标签都不是版本（第一个是“${example}”）`,

  version_gone: "仓库中已没有此版本",
  archive_too_large: ({ bytes }) => `归档文件大于 ${bytes / 1024 / 1024} MiB`,
  no_archive: "响应不是 Chart 归档文件（tar.gz）",
  no_chart_layer: "清单中没有 Chart 归档文件",
  no_archive_address: "索引中没有可用的归档文件地址",
  republished: ({ digest, wanted }) => `此版本在上次检查后被重新发布：其摘要为“${digest}”，应为“${wanted}”`,
  login_withheld: ({ status, host }) => `响应为 ${status}；凭据只会发送到“${host}”`,
  no_charts: ({ kind }) => `类型为“${kind}”的来源不提供 Chart`,

  at_line: ({ cause, line }, tell) => `${tell(cause)}（索引第 ${line} 行）`,
  web_page: "响应是网页，该地址可能不是 Chart 仓库",
  no_entries: "其中没有“entries”，该地址可能不是 Chart 仓库",
  index_is_list: "索引是列表，应为映射",
  index_no_mapping: "索引不是键值映射",
  index_too_deep: ({ levels }) => `索引的嵌套超过 ${levels} 层`,
  index_uneven: "缩进不一致",
  charts_uneven: "各 Chart 的缩进不一致",
  entries_no_mapping: "“entries”不是 Chart 的映射",
  entries_no_block: "“entries”不是每个 Chart 各占一行的映射",
  entries_twice: "“entries”出现了两次",
  chart_name_expected: "此处应为 Chart 的名称",
  chart_twice: ({ chart }) => `Chart“${chart}”出现了两次`,
  versions_no_list: ({ chart }) => `“${chart}”的版本不是列表`,
  version_too_large: ({ chart, kib }) => `“${chart}”的一个版本超过 ${kib} KiB`,
  too_many_versions: ({ chart, limit }) => `Chart“${chart}”的版本超过 ${limit} 个`,
  first_version_no_yaml: ({ chart, reason }) => `“${chart}”的第一个版本无法按 YAML 解析：${reason}`,
  version_no_yaml: ({ chart, after, reason }) => `“${chart}”中位于“${after}”之后的版本无法按 YAML 解析：${reason}`,
  no_usable_version: ({ chart, first }) => `“${chart}”没有可用的版本：第一个是“${first}”`,
  line_too_long: ({ mib }) => `有一行超过 ${mib} MiB`,
  quotes_open: "引号或括号中的文本没有结束",
  brackets_mismatched: "括号不匹配",
  json_cut: "响应的 JSON 不完整",
  name_no_json: "其中有名称不是有效的 JSON",
} satisfies Rendering<typeof english>;
