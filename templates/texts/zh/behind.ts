import { formatNumber } from "../../format.ts";
import type { Texts } from "../texts.ts";

export const behind = {
  major: (count: number) => `${formatNumber("zh", count)} 个主版本`,
  minor: (count: number) => `${formatNumber("zh", count)} 个次版本`,
  patch: (count: number) => `${formatNumber("zh", count)} 个补丁`,
  releases: (count: number) => `${formatNumber("zh", count)} 个版本`,
  both: (first: string, second: string) => `${first}、${second}`,
  at_least: (words: string) => `至少 ${words}`,
  title: (words: string) => `落后 ${words}`,
  with_days: (title: string, days: number) => `${title}；发布时间相隔 ${formatNumber("zh", days)} 天`,
} satisfies Texts["behind"];
