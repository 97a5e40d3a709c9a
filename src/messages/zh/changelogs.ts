import type { changelogs as english } from "../changelogs.ts";
import type { Rendering } from "../types.ts";

const quoted = (keys: readonly string[]) => keys.map((key) => `“${key}”`).join("、");

export const changelogs = {
  path_wanted: "请填写更新日志的路径",
  path_from_root: "请填写从仓库根目录开始的路径，开头不加 /",
  path_backslash: "请用 / 分隔目录",
  path_dots: "路径中不能有“..”或“.”",
  path_empty_part: "请写出文件名，目录名不能为空",
  path_open_brace: "每个 { 都需要对应的 }",
  unknown_placeholder: ({ placeholder, known }) => `“${placeholder}”不是占位符，可用的有 ${known.join("、")}`,
  heading_without_version: "请在版本所在位置填写 `{tag}` 或 `{version}`",
  ref_wanted: "请填写分支、标签或提交",
  ref_invalid: "这不是分支、标签或提交的名称",
  subheading_wanted: "请填写子标题开头的文字",
  repository_wanted: "自定义更新日志需要追踪器中有一个仓库来源，请先添加",
  source_wanted: ({ keys }) => `请选择更新日志所在的来源：${quoted(keys)}`,
  no_such_source: ({ key, keys }) => `追踪器中没有仓库来源“${key}”，请选择 ${quoted(keys)}`,

  no_file: ({ path }) => `默认分支上没有文件“${path}”`,
  no_file_at: ({ path, ref }) => `“${ref}”处没有文件“${path}”`,
  version_lacks: ({ version, placeholder }) => `版本 ${version} 没有路径中 ${placeholder} 对应的部分`,
  tag_gives_no_path: ({ tag, path }) => `标签 ${tag} 无法构成文件路径：${path}`,
  template_unusable: ({ version, cause }, tell) => `标题模板无法用于 ${version}：${tell(cause)}`,
  too_large: ({ mib, limit }) => `更新日志有 ${mib} MiB，最多读取 ${limit} MiB`,
  empty: "更新日志为空",
  no_section: ({ version }) => `更新日志中没有 ${version} 的章节`,
  empty_section: ({ version }) => `更新日志中 ${version} 的章节为空`,
  no_subheading: ({ version, subheading }) => `更新日志中 ${version} 的章节没有子标题“${subheading}”`,
  unreadable: ({ cause }, tell) => `无法读取更新日志：${tell(cause)}`,
  internal: "因内部错误无法读取更新日志，详情见日志",
  no_repository: "追踪器没有可读取更新日志的仓库来源",
} satisfies Rendering<typeof english>;
