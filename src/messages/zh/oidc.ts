import type { oidc as english } from "../oidc.ts";
import type { Rendering } from "../types.ts";

export const oidc = {
  refused: "身份提供方未能让您登录，请改用密码登录；原因见审计日志",
  provider_unreachable: "身份提供方没有响应，请检查它是否在运行、签发者地址是否正确",
  metadata_invalid: "身份提供方的发现文档无法使用，请检查签发者地址，或关闭自动发现并填写各端点",
  metadata_issuer_wrong: "身份提供方的发现文档写的是另一个签发者，请将它原样填写为签发者地址",
  endpoint_not_https: "身份提供方给出的某个端点不是 https，请在身份提供方的设置中更正",
  provider_unusable: "身份提供方无法使用",
  secret_unreadable: ({ name, cause, is_bound }, tell) =>
    `提供方“${name}”无法使用：${tell(cause)}。${is_bound ? "请解除绑定，重新填写客户端密钥，再重新绑定" : "请在提供方的表单中重新填写客户端密钥"}`,

  already_bound: "管理员已经绑定，请先解除该绑定",
  not_bound: "没有可解除的绑定",
  provider_disabled: ({ name }) => `提供方“${name}”已停用，请先启用`,
  provider_changed: ({ name }) => `提供方“${name}”已在此期间被更改，请重新开始绑定`,
  base_url_missing: "请先设置基础地址，提供方会把浏览器重定向到该地址",
  bound_provider_changed: ({ name }) => `管理员绑定在提供方“${name}”上；解除绑定之前只能启用或停用它`,
  bound_provider_deleted: ({ name }) => `管理员绑定在提供方“${name}”上；请先解除绑定再删除`,
  only_one_provider: ({ name }) => `只能配置一个提供方；请更改或删除提供方“${name}”`,

  address_form: ({ example }) => `请填写不含用户名和片段的 https 地址，例如“${example}”`,
  address_not_https: "地址必须是 https 地址",
  address_refused: "这是云平台元数据服务的地址，请填写身份提供方的地址",
  address_missing: "未启用自动发现时必须填写此地址",
  slug_form: "请使用小写字母、数字和连字符，首尾须为字母或数字",
  printable_ascii: "请使用可打印的 ASCII 字符",
  issuer_with_query: "签发者地址不含查询参数，请去掉问号及其后的部分",
  scopes_form: "请填写以空格分隔的授权范围",
  scopes_without_openid: "授权范围必须包含“openid”",
  icon_not_https: "图标必须位于 https 地址",
} satisfies Rendering<typeof english>;
