import { formatNumber } from "../../format.ts";
import type { Texts } from "../texts.ts";

const number = (value: number) => formatNumber("zh", value);

export const docs = {
  title: "API 文档",
  lead: "页面能做的一切，程序同样可以完成。",
  resources: "资源",
  all_resources: "全部资源",
  openapi: "OpenAPI 文档",
  sign_in: "登录",
  authentication: "身份验证",
  authentication_text:
    "通过请求头“Authorization: Bearer …”发送令牌。API 令牌在“用户设置”中添加；会话令牌由 POST /api/session 返回。",
  token_example: "登录并保存令牌",
  errors: "错误",
  errors_text:
    "所有错误都采用此格式。“code”保持稳定，“message”供人阅读，“fields”按路径列出被拒绝的字段。请求编号也会写入日志。",
  lists: "列表",
  lists_text: "列表返回“items”和“next_cursor”。把它作为“cursor”传回即可获取下一页；最后一页时为 null。",
  times: "时间",
  times_text: "时间为 UTC，采用带毫秒的 ISO 8601 格式。名称使用 snake_case。请求体中的未知字段会被拒绝。",
  no_sign_in: "无需登录",
  parameters: "参数",
  body: "请求体",
  answer: "响应",
  no_content: "无内容",
  refusals: "错误",
  required: "必填",
  write_only: "不会返回",
  in_path: "路径参数",
  in_query: "查询参数",
  always: "固定为",
  one_of: "可选值",
  variants: "以下形式之一",
  characters: (min: number | null, max: number | null) =>
    min === null || min <= 1
      ? `最多 ${number(max ?? 0)} 个字符`
      : max === null
        ? `至少 ${number(min)} 个字符`
        : `${number(min)} 到 ${number(max)} 个字符`,
  at_least_one_character: "不能为空",
  range: (min: number | null, max: number | null) =>
    max === null
      ? `至少 ${number(min ?? 0)}`
      : min === null
        ? `最多 ${number(max)}`
        : `${number(min)} 到 ${number(max)}`,
  items: (min: number | null, max: number | null) =>
    max === null
      ? `至少 ${number(min ?? 0)} 项`
      : min === null
        ? `最多 ${number(max)} 项`
        : `${number(min)} 到 ${number(max)} 项`,
  default_value: "默认值",
} satisfies Texts["docs"];
