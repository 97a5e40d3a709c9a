import type { steps as english } from "../steps.ts";
import type { Rendering } from "../types.ts";

export const steps = {
  pull: ({ state }) =>
    ({ waiting: "拉取镜像", running: "正在拉取镜像", done: "镜像已拉取", failed: "镜像未能拉取" })[state],
  pull_many: ({ state }) =>
    ({ waiting: "拉取各镜像", running: "正在拉取各镜像", done: "各镜像已拉取", failed: "部分镜像未能拉取" })[state],
  create: ({ state }) =>
    ({ waiting: "创建新容器", running: "正在创建新容器", done: "新容器已创建并与计划核对", failed: "新容器未能创建" })[
      state
    ],
  wait: ({ state }) =>
    ({ waiting: "等待依赖", running: "正在等待依赖", done: "依赖已健康", failed: "依赖不健康" })[state],
  drain: ({ state }) =>
    ({
      waiting: "新旧容器同时运行",
      running: "新旧容器正在同时运行",
      done: "新旧容器已同时运行",
      failed: "新容器未能保持就绪",
    })[state],
  stop: ({ state }) =>
    ({ waiting: "停止旧容器", running: "正在停止旧容器", done: "旧容器已停止", failed: "旧容器未能停止" })[state],
  rename: ({ state }) =>
    ({ waiting: "交换名称", running: "正在交换名称", done: "名称已交换", failed: "名称未能交换" })[state],
  start: ({ state }) =>
    ({ waiting: "启动新容器", running: "正在启动新容器", done: "新容器已启动", failed: "新容器未能启动" })[state],
  undo: ({ state }) =>
    ({ waiting: "恢复旧容器", running: "正在恢复旧容器", done: "旧容器已恢复", failed: "旧容器无法恢复" })[state],
  remove_old: ({ state }) =>
    ({ waiting: "移除旧容器", running: "正在移除旧容器", done: "旧容器已移除", failed: "旧容器尚未移除" })[state],
} satisfies Rendering<typeof english>;
