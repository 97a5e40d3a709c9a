import type { Catalogue } from "../catalogue.ts";
import type { Rendering } from "../types.ts";

export const readiness = {
  dependency_unhealthy: ({ name, needed, cause }, tell) => `“${name}”要求“${needed}”健康，但它不健康：${tell(cause)}`,
  not_ready_beside: ({ name, cause }, tell) => `新的“${name}”未能在旧容器旁就绪：${tell(cause)}`,
  not_staying_ready: ({ name, cause }, tell) => `新的“${name}”未能在旧容器旁保持就绪：${tell(cause)}`,
} satisfies Rendering<Catalogue["readiness"]>;
