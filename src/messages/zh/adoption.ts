import type { adoption as english } from "../adoption.ts";
import type { Rendering } from "../types.ts";

export const adoption = {
  local_image: ({ image }) => `“${image}”在本机构建，不来自任何镜像仓库`,
  digest_only: ({ image }) => `“${image}”仅以摘要引用，无法得知其版本线；请先用标签运行一次`,
  chart_unknown: ({ chart }) => `Helm 不记录 Chart“${chart}”的来源；请先为其仓库添加追踪器`,
  chart_ambiguous: ({ chart, trackers }) =>
    `多个追踪器跟随名为“${chart}”的 Chart：${trackers.join("、")}；请自行添加执行器`,
  nothing_to_follow: "它的服务都无法跟随",
  registry_over_http: ({ registry, image }) =>
    `“${registry}”使用 http 而非 https。请为“${image}”添加追踪器；此后该镜像仓库的所有镜像都通过 http 跟随`,
  no_line: ({ service, line }) => `“${service}”无法保持在“${line}”版本线`,
  changed: "显示之后它发生了变化，请重新查看",
  gone: "它已不在此处运行",
  none_chosen: "请至少选择一个目标",
} satisfies Rendering<typeof english>;
