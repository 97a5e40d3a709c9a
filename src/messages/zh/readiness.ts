import type { readiness as english } from "../readiness.ts";
import type { Rendering } from "../types.ts";

export const readiness = {
  removed: "容器已移除",
  renamed: ({ name }) => `容器已重命名为“${name}”`,
  no_container: ({ name }) => `容器“${name}”不存在`,
  never_started: "容器从未启动",
  out_of_memory: "容器因内存占用过多被终止",
  restarted: ({ count, exit_code }) =>
    `引擎已将其重启 ${count} 次${exit_code === null ? "" : `；最后的退出码为 ${exit_code}`}`,
  exited: ({ exit_code, reason }) => `容器已退出（退出码 ${exit_code}）${reason === null ? "" : `：${reason}`}`,
  paused: "容器已暂停",
  check_passes: "健康检查通过",
  check_fails: ({ output }) => `健康检查失败${output === null ? "" : `：${output}`}`,
  check_not_run: "健康检查尚未执行",
  check_not_passed: "健康检查尚未通过",
  running: ({ seconds }) => `已运行 ${seconds} 秒，未重启`,
  running_of: ({ seconds, needed }) => `已运行 ${seconds} 秒，需满 ${needed} 秒`,
  nothing_runs: ({ name }) => `“${name}”没有正在运行的容器`,

  needs_healthy: ({ name, needed, cause }, tell) => `“${name}”要求“${needed}”健康，但它不健康：${tell(cause)}`,
  changed_while_waiting: ({ name }) => `运行等待其依赖期间，“${name}”已发生变化；请重新查看计划`,
  job_failed: ({ name, exit_code }) => `“${name}”已退出（退出码 ${exit_code}）；等待其完成的容器没有启动`,
  job_endless: ({ name }) => `“${name}”在一小时内没有完成`,
  not_ready_beside: ({ name, cause }, tell) => `新的“${name}”与旧容器同时运行时未能就绪：${tell(cause)}`,
  not_stable_beside: ({ name, cause }, tell) => `新的“${name}”与旧容器同时运行时未能保持就绪：${tell(cause)}`,
} satisfies Rendering<typeof english>;
