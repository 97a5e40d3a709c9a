import type { MessageDictionary } from "../messages.ts";

/** 身份提供方及其绑定的消息。 */
export const messages: MessageDictionary = [
  ["The identity provider does not answer", "身份提供方没有应答"],
  ["The identity provider's discovery document is not usable", "身份提供方的发现文档无法使用"],
  [
    "The identity provider's discovery document names another issuer than the issuer URL",
    "身份提供方的发现文档中的签发者与签发者地址不一致",
  ],
  ["The identity provider names an endpoint that is not https", "身份提供方给出的某个端点不是 https"],
  ['"{}" limits the rate of requests', "“{}”限制了请求频率"],
  ["The identity provider cannot be used", "身份提供方无法使用"],
  ["The administrator is bound already; remove that binding first", "管理员已经绑定，请先解除该绑定"],
  ['The provider "{}" is disabled; enable it first', "提供方“{}”已停用；请先启用"],
  ['The provider "{}" was changed meanwhile; begin the binding again', "提供方“{}”已在此期间被更改；请重新开始绑定"],
  ["Set the base URL first; the provider sends the browser back to it", "请先设置基础地址，提供方会把浏览器带回该地址"],
  ["There is no binding to remove", "没有可解除的绑定"],
  [
    'The provider "{}" holds the administrator\'s binding; remove the binding before you change more than its switch',
    "提供方“{}”持有管理员的绑定，解除绑定之前只能停用或启用它",
  ],
  [
    'The provider "{}" holds the administrator\'s binding; remove the binding before you delete it',
    "提供方“{}”持有管理员的绑定；请先解除绑定再删除",
  ],
  [
    'There is already the provider "{}", and at most one can be configured; change or delete it',
    "已经有提供方“{}”，最多只能配置一个；请更改或删除它",
  ],
  ["The address must be an https URL", "地址必须是 https 地址"],
  ["This address is never asked", "此地址不允许访问"],
  ["Too many sign-ins with the identity provider; try again in a moment", "通过身份提供方登录过于频繁，请稍后再试"],
  [
    "The identity provider could not sign you in; sign in with the password, the audit says why",
    "身份提供方未能让你登录；请用密码登录，审计记录中有原因",
  ],
  [
    'Write an https URL without user and fragment, for example "https://id.example.org/authorize"',
    "请填写不含用户名和片段的 https 地址，例如“https://id.example.org/authorize”",
  ],
  ["Write a slug", "请填写标识"],
  [
    "Use lowercase letters, digits and hyphens, with a letter or digit at both ends",
    "请使用小写字母、数字和连字符，首尾须为字母或数字",
  ],
  ["Write the client ID that the provider issued", "请填写提供方签发的客户端 ID"],
  ["Write the client secret that the provider issued", "请填写提供方签发的客户端密钥"],
  ["Use printable ASCII characters", "请使用可打印的 ASCII 字符"],
  [
    "An issuer URL has no query; leave out what follows the question mark",
    "签发者地址不含查询参数，请去掉问号及其后的部分",
  ],
  ["Write scopes with blanks between them", "请填写以空格分隔的范围"],
  ['The scopes must include "openid"', "范围必须包含“openid”"],
  ["The icon must be at an https URL", "图标必须位于 https 地址"],
  ["Without discovery this address is required", "未启用发现时必须填写此地址"],
];
