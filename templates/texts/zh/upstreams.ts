import { formatNumber } from "../../format.ts";
import type { Texts } from "../texts.ts";

const number = (count: number) => formatNumber("zh", count);
const rounded = (count: number) => number(count < 10 ? Math.round(count * 10) / 10 : Math.round(count));

export const upstreams = {
  title: "上游",
  lead: "追踪器向各主机发送的请求及其限额",
  filter_text: "主机或账户",
  host: "主机",
  account: "账户",
  anonymous: "匿名",
  asked: "每小时请求",
  asked_text: rounded,
  limited_text: (requests: number, quota: number) =>
    quota === requests ? "全部计入" : `其中 ${rounded(quota)} 次计入`,
  allowed: "每小时限额",
  left: "剩余",
  left_text: (remaining: number) => number(remaining),
  until: "直到",
  renewed: "恢复于",
  states: {
    not_responding: "没有响应",
    waiting: "等待中",
    limit_too_low: "限额不足",
    within_limit: "未超限额",
    limit_unknown: "限额未知",
  },
  short: (minutes: number) => `每个来源每${formatSpan(minutes)}检查一次`,
  short_help: "限额小于所需请求。各来源公平分配：等待最久的最先检查。",
  clock_differs: "请检查本机时间",
  waits_help: "在此之前不发送请求，已有版本予以保留。",
  empty: "还没有检查过追踪器",
  empty_text: "追踪器访问的主机及其报告的限额会显示在这里。",
  sources_wait: (count: number) => `${number(count)} 个来源在等待`,
  outage_since: "始于",
  next_try: "下次尝试",
  attempts: (count: number) => `已失败 ${number(count)} 次`,
  past_outages: "最近 30 天的中断",
  hosts: "主机",
  began: "开始时间",
  lasted: "持续时间",
  reason: "原因",
  cost_of_checks: "API 用量",
  saved_cost: (requests: number) => (requests < 1 ? "每小时不到 1 次请求" : `每小时约 ${rounded(requests)} 次请求`),
  waits_until: "等待至",
  moved: "已移至",
  moved_help: "现已改为检查新位置。请在追踪器中填写新位置，以免旧名称被其他项目占用。",
  cost: (requests: number, host: string) =>
    `每小时向 ${host} 发送约 ${number(Math.max(Math.round(requests), 1))} 次请求`,
  cost_small: (host: string) => `每小时向 ${host} 发送不到 1 次请求`,
  cost_limited: (quota: number, limit: number) =>
    `此主机的所有来源合计每小时占用 ${number(limit)} 次限额中的 ${rounded(quota)} 次`,
} satisfies Texts["upstreams"];

function formatSpan(minutes: number): string {
  if (minutes < 120) return ` ${number(minutes)} 分钟`;
  return ` ${number(Math.round(minutes / 6) / 10)} 小时`;
}
