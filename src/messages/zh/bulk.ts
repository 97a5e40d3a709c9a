import type { bulk as english } from "../bulk.ts";
import type { Rendering } from "../types.ts";

export const bulk = {
  too_many: ({ limit }) => `一次最多可更改 ${limit} 项；请缩小筛选范围`,
  awaits_approval: "有运行正在等待批准；请批准或拒绝该次运行",
  not_awaiting: "没有等待批准的运行",
  late: "计划未能及时生成；请在执行器的页面上单独运行",
  plan_changed: "计划在您查看之后已变化；请重新查看",
  major: ({ from, to }) => `从“${from}”到“${to}”是主版本更新`,
  early: ({ from, to }) => `从“${from}”到“${to}”可能包含不兼容的变更：1.0 之前，次版本也可能不兼容`,
  unmeasured: ({ from, to }) => `无法从“${from}”和“${to}”判断是否为主版本更新`,
  not_onward: "这是降级，或离开当前变体或版本线，或无法比较",
  breaking: ({ tracker, versions }) => `“${tracker}”的发布说明提到不兼容的变更：${versions.join("、")}`,
  notes_unread: ({ tracker }) => `尚未读取到“${tracker}”的发布说明`,
  last_failed: "上一次运行失败",
  rolled_back: "上一次运行已将其回滚",
  no_rollback: "此更新无法回滚",
} satisfies Rendering<typeof english>;
