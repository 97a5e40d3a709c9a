import type { connections as english } from "../connections.ts";
import type { Rendering } from "../types.ts";
import { quotedList } from "./lists.ts";

export const connections = {
  answered: ({ runtime, version }) => `已连接到 ${runtime} ${version}`,
  disabled: ({ connection }) => `连接“${connection}”已停用，请先启用`,
  kind_unknown: ({ kind }) => `此版本的 Tidemark 不支持“${kind}”类型的连接；请升级 Tidemark，或删除该连接`,
  setting_unusable: ({ path, cause }, tell) => `连接的设置“${path}”无法使用：${tell(cause)}。请编辑该连接以更正`,
  choose_one: ({ options }) => `有多个可选项，请选择其一：${quotedList(options)}`,
  silent: ({ seconds }) => `${seconds} 秒内没有响应`,
  look_failed: "因内部错误无法检查，详情见日志",
  not_checked: "最近未检查",
  place_taken: ({ connection, is_divisible }) =>
    `连接“${connection}”已能访问相同的目标。请直接编辑该连接，不要重复添加${is_divisible ? "；也可以填写该连接没有的命名空间" : ""}`,
  place_shared: ({ names }) =>
    `此连接与${quotedList(names)}访问的目标相同。请只保留其中一个并删除其余连接，以免同一目标重复列出`,
  place_changed:
    "此连接的地址现在指向的引擎或集群与保存时不同，其执行器现在操作的是新的引擎或集群。请检查这些执行器，然后重新保存此连接以确认变更",
} satisfies Rendering<typeof english>;
