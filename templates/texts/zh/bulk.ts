import { formatNumber } from "../../format.ts";
import type { bulk as bulkEn, selection as selectionEn, tracker_bulk as trackerBulkEn } from "../en/bulk.ts";

const number = (count: number) => formatNumber("zh", count);

export const selection = {
  bar: "对所选项的操作",
  count: "已选择 # 项",
  choose: (name) => `选择“${name}”`,
  all_shown: "选择本页全部",
  all_matching: (count) => `符合条件的全部 ${number(count)} 项`,
  more: "更多",
} satisfies typeof selectionEn;

export const bulk = {
  actions: {
    update: "更新",
    approve: "批准",
    check: "检查",
    hold: "暂停更新",
    resume: "恢复更新",
    dismiss: "忽略失败",
    undismiss: "重新显示",
    enable: "启用",
    disable: "停用",
    delete: "删除",
  },
  titles: {
    update: (count) => `要更新 ${number(count)} 个执行器吗？`,
    approve: (count) => `要批准 ${number(count)} 个计划吗？`,
    delete: (count) => `要删除 ${number(count)} 个执行器吗？`,
  },
  verbs: { update: "开始更新", approve: "批准计划", delete: "删除执行器" },
  nothing: { update: "没有可更新的执行器", approve: "没有待批准的计划", delete: "没有可删除的执行器" },
  none_selected: "未选择执行器",
  select_one: "请在列表中至少选择一个。",
  include: (name) => `包括“${name}”`,
  update_text:
    "每次运行都严格按照此处显示的计划执行，一次失败不影响其他运行。如果计划在运行开始前发生变化，该次运行会被拒绝。",
  approve_text: "每次运行都严格执行它请求批准的那份计划。",
  delete_text: "其运行记录和快照也会一并删除，且无法恢复。被更新的目标保持原样继续运行。",
  delete_snapshots: (count) => `其中 ${number(count)} 个有快照`,
  left_out: (count) => `已排除 ${number(count)} 个执行器`,
  update_safe: "更新全部低风险项",
  safe_title: (count) => `要安装 ${number(count)} 个低风险更新吗？`,
  safe_text:
    "低风险更新是指：小幅向前的更新，没有警告，发布说明未提到不兼容的变更，您未推迟、跳过或回滚，上一次运行没有失败，并且可以回滚。",
  safe_without_notes: (count, all) =>
    `${count === all ? "这" : "其中"} ${number(count)} 个没有提供发布说明的来源。这些更新的“低风险”仅指版本跨度小：即使有不兼容的变更，也无从得知。`,
  not_safe: (count) => `${number(count)} 个更新需要先查看`,
  undo_gone: "无法再从这里撤销。请选择相应的行，再执行相反的操作。",
  none_safe: "没有无需查看即可安装的低风险更新",
  no_update: "没有可更新的执行器。",
  not_looked_at: (count) => `另有 ${number(count)} 个更新尚未检查。请在完成这些之后再来。`,
  planning: (count) => `正在生成 ${number(count)} 个计划`,
  planning_text: "需要几秒钟。在您确认之前，不会更新任何内容。",
  show_plans: "显示计划",
  expected_downtime: (time) => `预计停机 ${time}`,
  results: {
    update: (count) => (count === 0 ? "未开始任何更新" : `已开始 ${number(count)} 个更新`),
    approve: (count) => (count === 0 ? "未批准任何计划" : `已批准 ${number(count)} 个计划`),
    check: (count) => (count === 0 ? "未检查任何追踪器" : `正在检查 ${number(count)} 个执行器的追踪器`),
    hold: (count) => (count === 0 ? "没有需要暂停的更新" : `已暂停 ${number(count)} 个执行器的更新`),
    resume: (count) => (count === 0 ? "没有需要恢复的更新" : `已恢复 ${number(count)} 个执行器的更新`),
    dismiss: (count) => (count === 0 ? "没有需要忽略的运行" : `已忽略 ${number(count)} 次失败的运行`),
    undismiss: (count) => (count === 0 ? "没有需要重新显示的运行" : `${number(count)} 次失败的运行已重新列为待处理`),
    enable: (count) => (count === 0 ? "没有需要启用的执行器" : `已启用 ${number(count)} 个执行器`),
    disable: (count) => (count === 0 ? "没有需要停用的执行器" : `已停用 ${number(count)} 个执行器`),
    delete: (count) => (count === 0 ? "未删除任何执行器" : `已删除 ${number(count)} 个执行器`),
  },
  and_not_done: (count) => `，${number(count)} 个未执行`,
  outcomes: { unchanged: "未变化", refused: "未执行" },
  done: {
    update: "已开始运行",
    approve: "已批准",
    check: "检查中",
    hold: "已暂停",
    resume: "已恢复",
    dismiss: "已忽略",
    undismiss: "已重新显示",
    enable: "已启用",
    disable: "已停用",
    delete: "已删除",
  },
  gone_title: "结果已不再保留",
  gone_text: "只保留最近 50 次操作的结果，重启后全部清除。已启动的运行可在“运行记录”中查看。",
  to_list: "返回执行器",
  to_runs: "运行记录",
} satisfies typeof bulkEn;

export const tracker_bulk = {
  delete_title: (count) => `要删除 ${number(count)} 个追踪器吗？`,
  delete_verb: "删除追踪器",
  delete_text: "其来源、版本历史和规则将被删除。已发送的事件会保留。",
  nothing_to_delete: "没有可删除的追踪器",
  none_selected: "未选择追踪器",
  select_one: "请在列表中至少选择一个。",
  left_out: (count) => `已排除 ${number(count)} 个追踪器`,
  results: {
    check: (count) => (count === 0 ? "未检查任何追踪器" : `正在检查 ${number(count)} 个追踪器`),
    enable: (count) => (count === 0 ? "没有需要启用的追踪器" : `已启用 ${number(count)} 个追踪器`),
    disable: (count) => (count === 0 ? "没有需要停用的追踪器" : `已停用 ${number(count)} 个追踪器`),
    delete: (count) => (count === 0 ? "未删除任何追踪器" : `已删除 ${number(count)} 个追踪器`),
  },
  gone_text: "只保留最近 50 次操作的结果，重启后全部清除。列表显示当前状态。",
  to_list: "返回追踪器",
} satisfies typeof trackerBulkEn;
