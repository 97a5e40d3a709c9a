import type { restoring as english } from "../restoring.ts";
import type { Rendering } from "../types.ts";
import { quotedList } from "./lists.ts";

export const restoring = {
  not_json: "快照不是 JSON",
  unreadable: ({ reason }) => `无法读取快照：${reason}`,
  other_format: "此快照由其他版本的 Tidemark 生成",
  odd_name: "快照中的容器名称不是引擎会使用的名称",
  image_not_saved: ({ name }) => `容器“${name}”的镜像已不在引擎上`,

  inexact: ({ cause }, tell) => `无法原样恢复快照：${tell(cause)}`,
  present_not_saved: ({ cause }, tell) => `当前的容器无法保存，之后无法回到它：${tell(cause)}`,
  image_gone: ({ reference }) => `快照中的镜像“${reference}”已不在引擎上，而且从未按摘要拉取过`,
  other_target: ({ name, target }) => `快照属于“${name}”，不属于“${target}”`,
  other_container: ({ name }) => `“${name}”现在是另一个容器：既不是快照中的容器，也不是由运行创建的。它将被替换`,
  name_taken: ({ name, target }) => `“${name}”现在是另一个容器，不属于“${target}”；请先将其重命名或移除`,
  volume_gone: ({ name, users, command }) =>
    `卷“${name}”（${quotedList(users)}使用）已不存在；请先恢复该卷及其数据，或用 \`${command}\` 创建一个空卷`,
  network_gone: ({ name, users }) => `网络“${name}”（${quotedList(users)}使用）已不存在；请先重新创建它`,
  owner_gone: ({ name, owner, setting }) => `快照中的“${name}”依赖于容器“${owner}”（${setting}），而该容器已不存在`,
} satisfies Rendering<typeof english>;
