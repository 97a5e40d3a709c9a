import type { logs as english } from "../logs.ts";
import type { Rendering } from "../types.ts";

export const logs = {
  unsupported: ({ kind }) => `Tidemark 无法通过“${kind}”类型的连接读取日志`,
  driver_unreadable: ({ driver }) => `容器使用日志驱动“${driver}”，引擎无法读取其日志`,
  too_slow: ({ seconds }) => `${seconds} 秒内未返回日志`,
  starting: "容器正在启动",
  too_many: ({ limit }) => `已有 ${limit} 个日志视图打开；请关闭其中一个后重试`,
  too_many_own: ({ limit }) => `您已打开 ${limit} 个日志视图；请关闭其中一个后重试`,
  ended_by_time: ({ minutes }) => `日志视图在 ${minutes} 分钟后结束`,
  ended_by_cut: ({ name }) => `“${name}”仍在运行，但无法再读取其日志`,
  ended_by_target: "目标已不存在",
  ended_by_runtime: ({ cause }, tell) => `无法再列出容器：${tell(cause)}`,
} satisfies Rendering<typeof english>;
