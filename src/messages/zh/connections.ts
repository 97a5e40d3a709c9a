import type { connections as english } from "../connections.ts";
import type { Rendering } from "../types.ts";
import { quotedList } from "./lists.ts";

export const connections = {
  answered: ({ runtime, version }) => `已响应：${runtime} ${version}`,
  disabled: ({ connection }) => `连接“${connection}”已停用，请先启用`,
  kind_unknown: ({ kind }) => `此版本的 Tidemark 没有“${kind}”类型的连接`,
  choose_one: ({ options }) => `有多个可选项，请选择其一：${quotedList(options)}`,
  silent: ({ seconds }) => `${seconds} 秒内没有响应`,
  look_failed: "因内部错误无法检查，详情见日志",
  not_checked: "最近未检查",
} satisfies Rendering<typeof english>;
