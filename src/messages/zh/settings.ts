import type { settings as english } from "../settings.ts";
import type { Rendering } from "../types.ts";

export const settings = {
  base_url_unusable: ({ text }) => `“${text}”不是完整的 URL，请填写例如“https://tidemark.example.org”的地址`,
  base_url_scheme: ({ scheme }) => `协议只能是 http 或 https，不能是 ${scheme}`,
  base_url_surplus: "不能包含用户名、查询参数或片段，请去掉这些部分",
  base_url_path: ({ text }) =>
    `“${text}”的路径不可用；路径的每一段只能包含字母 a 至 z 和 A 至 Z、数字、“.”、“_”、“~”和“-”，例如“https://example.org/tidemark”`,
  base_url_elsewhere: ({ address }) =>
    `您当前通过 ${address} 访问。使用此基础地址后，登录和所有表单只能通过基础地址使用`,
  time_zone: "请填写时区名称，例如“Europe/Berlin”或“UTC”",
  set_by_environment: ({ variable }) => `此项由环境变量 ${variable} 设置，请在环境中修改`,
} satisfies Rendering<typeof english>;
