import { formatNumber } from "../../format.ts";
import type { Texts } from "../texts.ts";

const number = (count: number) => formatNumber("zh", count);

export const backtest = {
  title: "这些规则在过去的效果",
  none: "没有已知发布时间的版本，没有可显示的历史",
  undated: (count: number) => `${number(count)} 个没有发布时间的版本未计入`,
  days: (count: number) => `最新版本变化 ${number(count)} 次`,
  surprises: (count: number) => `其中 ${number(count)} 次意外`,
  no_surprise: "无意外",
  keeps: (version: string) => `自动运行会保持 ${version}`,
  jumps: {
    first: "首个",
    none: "升级",
    downgrade: "降级",
    prerelease: "预发布版",
    variant: "其他变体",
    incomparable: "无法比较",
  },
  more: (count: number) => `另有 ${number(count)} 项更早的未显示`,
} satisfies Texts["backtest"];
