import type { checks as english } from "../checks.ts";
import type { Rendering } from "../types.ts";

export const checks = {
  internal: "检查因内部错误失败，详情见日志",
  emptied: ({ known }) => `上游已不再列出任何内容；已知的 ${known} 个版本予以保留`,
  took_too_long: ({ minutes }) => `检查超过了 ${minutes} 分钟`,
} satisfies Rendering<typeof english>;
