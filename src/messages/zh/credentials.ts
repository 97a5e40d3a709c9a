import type { credentials as english } from "../credentials.ts";
import type { Rendering } from "../types.ts";
import { quotedList } from "./lists.ts";

export const credentials = {
  kind_unknown: ({ kind }) => `此版本的 Tidemark 不支持“${kind}”类型的凭据；请升级 Tidemark，或删除该凭据`,
  token_prefix: ({ prefixes }) => `该平台的令牌以${quotedList(prefixes, "或")}开头`,
  token_with_spaces: "令牌中不能有空格",
  certificate_half: "客户端证书和私钥必须同时提供",
  certificate_unreadable: ({ member }) => `无法读取“${member}”：请粘贴从 BEGIN 到 END 的完整 PEM 文本`,
  key_of_another: "该私钥与客户端证书不匹配，请填写签发该证书时使用的私钥",
  basic_auth: "请按“用户名:密码”的格式填写",
  other_kind: ({ name, kind, wanted }) => `凭据“${name}”的类型是“${kind}”；请选择类型为“${wanted}”的凭据`,
  unreadable: ({ name, cause }, tell) => `凭据“${name}”无法使用：${tell(cause)}。请在“凭据”页面重新填写`,
} satisfies Rendering<typeof english>;
