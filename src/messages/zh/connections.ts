import type { connections as english } from "../connections.ts";
import type { Rendering } from "../types.ts";

export const connections = {
  answered: ({ runtime, version }) => `已响应：${runtime} ${version}`,
  disabled: ({ connection }) => `连接“${connection}”已停用，请先启用`,
} satisfies Rendering<typeof english>;
