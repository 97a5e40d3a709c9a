import type { probes as english } from "../probes.ts";
import type { Rendering } from "../types.ts";

export const probes = {
  host_alone: "只填写主机名或地址，不含协议、端口、路径或括号",
  path_start: "路径必须以一个“/”开头",
  path_characters: "路径中含有空格、反斜杠、控制字符或片段",
  status_codes: ({ limit }) => `最多填写 ${limit} 个 100 至 599 的状态码，以逗号分隔，例如“200, 204”`,
  pattern_without_body: "匹配响应内容需要使用 GET 方法，HEAD 的响应没有内容",

  answered: ({ status }) => `返回 ${status}`,
  status_unexpected: ({ status, expected }) => `返回 ${status}，期望 ${expected.join("、") || "2xx 或 3xx"}`,
  pattern_missing: ({ status, pattern, length }) => `返回 ${status}，但响应的前 ${length} 个字符中没有“${pattern}”`,
  port_open: ({ port }) => `端口 ${port} 接受连接`,
  no_answer: ({ seconds }) => `${seconds} 秒内没有响应`,
} satisfies Rendering<typeof english>;
