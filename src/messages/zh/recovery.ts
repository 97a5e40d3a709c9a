import type { recovery as english } from "../recovery.ts";
import type { Rendering } from "../types.ts";
import { quotedList } from "./lists.ts";

const moves = { stop: "停止", start: "启动", remove: "移除", rename: "重命名", policy: "更改重启策略：" };

export const recovery = {
  nothing_touched: ({ name }) => `“${name}”没有任何改动`,
  in_place: ({ names }) => `新容器${quotedList(names)}已就位`,
  in_place_kept: ({ names }) => `新容器${quotedList(names)}已就位；旧容器已保留备用`,
  in_place_gone: ({ names }) => `新容器${quotedList(names)}已就位；旧容器已不存在`,
  as_before: ({ name }) => `容器“${name}”与运行之前相同`,
  absent_as_before: ({ name }) => `容器“${name}”不存在，与运行之前相同`,
  not_removed: ({ name, cause }, tell) => `运行创建了“${name}”，但无法移除它：${tell(cause)}`,
  previous_gone: ({ name }) => `旧容器已不存在；新容器已以“${name}”的名称就位`,
  previous_unfinished: ({ name, is_running, cause }, tell) =>
    `旧容器“${name}”${is_running ? "正在运行" : "已就位"}；其余步骤失败：${tell(cause)}`,
  unfinished: ({ said, cause }, tell) => `${tell(said)}；其余步骤失败：${tell(cause)}`,
  previous_refused: ({ cause }, tell) => `旧容器无法恢复（${tell(cause)}）；由新容器代替`,
  new_does_not_start: ({ name, cause }, tell) => `新容器“${name}”无法启动：${tell(cause)}`,
  neither_starts: ({ cause }, tell) => `旧容器已不存在，新容器无法启动：${tell(cause)}`,
  down: ({ name, cause }, tell) => `“${name}”已停机：${tell(cause)}`,
  kept_not_running: ({ kept, name }) => `保留“${kept}”：替换它的“${name}”没有运行`,
  kept_needed: ({ kept, user }) => `保留“${kept}”：没有它就无法启动“${user}”`,
  kept_alone: ({ kept }) => `保留“${kept}”：替换它的容器已不存在`,
  move: ({ move, name }) => `${moves[move]} ${name}`,
  remove_broken: ({ name }) => `移除无法启动的 ${name}`,
  make_again: ({ name }) => `按快照重新创建 ${name}`,
  wait_for: ({ name }) => `等待 ${name}`,
  move_failed: ({ move, name, cause }, tell) => `无法${moves[move]} ${name}：${tell(cause)}`,
  too_many_moves: ({ limit }) => `尝试 ${limit} 步后放弃`,
  settings_missing: ({ settings }) => `引擎没有应用全部设置：${settings.join("、")}`,

  gone: ({ name }) => `容器“${name}”已不存在`,
  name_taken: ({ name }) => `另一个容器占用了名称“${name}”`,
  name_taken_kept: ({ name, kept }) => `另一个容器占用了名称“${name}”；旧容器保留为“${kept}”`,
  removed: ({ name }) => `容器“${name}”已移除`,
  renamed: ({ name, to }) => `容器“${name}”已重命名为“${to}”`,
  paused: ({ name }) => `容器“${name}”已暂停`,
  started: ({ name }) => `容器“${name}”已启动`,
  started_and_stopped: ({ name }) => `容器“${name}”启动后又停止`,
} satisfies Rendering<typeof english>;
