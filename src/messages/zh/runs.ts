import type { runs as english } from "../runs.ts";
import type { Rendering } from "../types.ts";
import { quotedList } from "./lists.ts";

const words = {
  update: { failed: "更新失败", failedAt: "更新", version: "新版本" },
  rollback: { failed: "回滚失败", failedAt: "回滚", version: "快照中的版本" },
};

const serving = {
  update: {
    desired: "新版本保持运行",
    previous: "旧版本正在运行",
    mixed: "部分服务运行新版本，其余运行旧版本",
    none: "目标已停机：新旧版本均未运行",
    unknown: "无法确认当前运行的版本",
  },
  rollback: {
    desired: "快照中的版本保持运行",
    previous: "回滚前的版本正在运行",
    mixed: "部分服务运行快照中的版本，其余运行回滚前的版本",
    none: "目标已停机：新旧版本均未运行",
    unknown: "无法确认当前运行的版本",
  },
};

const resting: Readonly<Record<"update" | "rollback", Readonly<Record<string, string>>>> = {
  update: { desired: "保留新版本，处于停止状态", previous: "旧版本仍在，与之前一样处于停止状态" },
  rollback: { desired: "保留快照中的版本，处于停止状态", previous: "回滚前的版本仍在，与之前一样处于停止状态" },
};

export const runs = {
  unhealthy: ({ kind, cause }, tell) => `${words[kind].version}未通过健康检查：${tell(cause)}`,
  failed: ({ kind, container, cause }, tell) => {
    const why = tell(cause);
    const isNamed = container === null || why.includes(`“${container}”`) || why.includes(`"${container}"`);
    return `${isNamed ? words[kind].failed : `${words[kind].failedAt}“${container}”失败`}：${why}`;
  },
  interrupted: ({ recovery }, tell) => `运行被中断。${tell(recovery)}`,
  process_ended: "每次开始此运行时，Tidemark 进程都会终止",
  unfinished: ({ cause }, tell) => `运行在一天之内都未能结束：${tell(cause)}`,
  with_serving: ({ reason, kind, serving: state, is_resting }, tell) =>
    `${tell(reason)}。${(is_resting ? resting[kind][state] : undefined) ?? serving[kind][state]}`,
  not_undone: ({ reason, kind, cause }, tell) =>
    `${tell(reason)}。${kind === "update" ? "更新" : "回滚"}无法撤销：${tell(cause)}`,
  partly_down: ({ reason, services }, tell) =>
    `${tell(reason)}。目标已停机：${quotedList(services)} 的新旧版本均未运行，其余服务正在运行`,

  left_stopped: "目标原本已停止并保持停止；未做健康检查即完成更新",
  started_for_snapshot: "目标原本未运行；由于生成快照时它在运行，现已启动",
  started_after_outage: "目标原本未运行；由于是先前的运行使其停机，现已启动",

  target_changed: "确认计划之后，目标或期望的版本已发生变化；请重新查看计划",
  snapshot_removed: "快照已在此期间移除",
  without_snapshots: "此类目标没有快照",
  snapshot_failed: ({ cause }, tell) => `无法保存配置：${tell(cause)}`,
  not_restorable: ({ target, cause }, tell) => `无法恢复“${target}”：${tell(cause)}`,
  restore_unreviewed: ({ target, cause }, tell) => `“${target}”只能凭已审核计划的哈希恢复：${tell(cause)}`,
  matches_snapshot: ({ target }) => `“${target}”已与快照一致`,
  same_image: ({ target }) => `“${target}”已在运行所拉取的镜像`,
  window_closed: ({ executor }) => `“${executor}”的维护窗口已关闭，且此运行不忽略窗口`,
  window_closed_meanwhile: ({ executor }) => `拉取“${executor}”的镜像期间维护窗口已关闭`,
  connection_disabled: "连接已停用",
  executor_disabled: "执行器已停用",

  waits_for_run: ({ executor, connection }) => `等待“${executor}”（连接“${connection}”）的运行结束`,
  waits_for_container: ({ executor, container }) => `等待“${executor}”的运行结束，它正在处理容器“${container}”`,
  waits_for_window: ({ executor }) => `等待“${executor}”的维护窗口`,
  retrying_after: ({ cause }, tell) => `稍后重试，原因：${tell(cause)}`,

  approval_timed_out: ({ executor }) => `“${executor}”的计划未在期限内获得批准`,
  refused: "运行已被拒绝",
  refused_by_link: "运行已通过链接被拒绝",
  replaced_by_manual: "已被手动运行取代",
  manual_only: ({ executor }) => `“${executor}”已改为仅手动更新`,
  nothing_left: ({ cause }, tell) => `计划中已没有需要执行的更改：${tell(cause)}`,
  other_version: "期望的版本已经改变",
  target_changed_since_plan: "生成计划之后目标已发生变化；请重新查看计划",
  already_approved: "运行已获批准",
  not_awaiting: "此运行不在等待批准",
  run_since: "在您打开此页之后，已启动过另一次运行；未再次启动",
  plan_hash_wanted: "请填写计划的哈希：64 位十六进制数字",
  plan_changed: "计划已经改变，请查看后重新决定",
  approval_expired: "此运行的批准期限已过",
  decided_meanwhile: "在此期间已对该运行作出其他决定",

  in_progress: () => "已有一次运行正在进行",
  no_such_snapshot: ({ executor, snapshot }) => `执行器“${executor}”没有快照“${snapshot}”`,

  replaced_by_run: () => "已被之后的运行取代",
  tried_for_a_day: ({ cause }, tell) => `重试一天后放弃：${tell(cause)}`,
  up_by_itself: "它已自行恢复运行",
} satisfies Rendering<typeof english>;
