import type { MessageDictionary } from "../messages.ts";

/** 请求失败的具体原因；须在较短的“请求失败”之前。 */
export const requestMessages: MessageDictionary = [
  ["the answer has more than {} KiB of headers", "应答的标头超过 {} KiB"],
  ["it switched protocols without being asked", "对方未经请求就切换了协议"],
  ["it announced an answer again and again, and sent none", "对方反复预告应答，却始终没有发送"],
  ['Request to "{}" failed: the answer\'s gzip is damaged', "对“{}”的请求失败：应答的 gzip 已损坏"],
  ['Request to "{}" was cancelled', "对“{}”的请求被取消"],
];

/** 对外请求的其他失败原因。 */
export const networkMessages: MessageDictionary = [
  [
    'The database server "{}" {}; see whether it runs and DATABASE_URL is right, then try again',
    "数据库服务器“{}”{}；请检查它是否在运行、DATABASE_URL 是否正确，然后重试",
  ],
  [
    'The database server "{}" rejected the token ({}); correct DATABASE_AUTH_TOKEN, then try again',
    "数据库服务器“{}”拒绝了令牌（{}）；请更正 DATABASE_AUTH_TOKEN，然后重试",
  ],
  ["did not answer within {} s", "在 {} 秒内没有应答"],
  ["sent no valid answer", "没有有效的应答"],
  ["refused the connection", "拒绝连接"],
  ["cannot be found: its name does not resolve", "的域名无法解析"],
  ["answered with status {}", "应答的状态码为 {}"],
  ["answered with more than 256 MiB", "应答超过 256 MiB"],
  ["The answer of {} could not be read: {}", "无法读取{}的应答：{}"],
  ['{} answered with something that is not JSON: "{}"', "{}的应答不是 JSON：“{}”"],
  ["{} answered with unexpected JSON at {}: {}", "{}的应答在 {} 处的 JSON 不符合预期：{}"],
  ["{} answered with JSON that {}", "{}的应答的 JSON {}"],
  ["is nested too deep", "嵌套过深"],
  ["has too many parts", "内容过多"],
  ["The destination answered with status {}", "目标应答的状态码为 {}"],
  ['Only http and https are used, not "{}"', "只使用 http 和 https，不使用“{}”"],
  [
    'The address of "{}" has a user name or password; store a credential instead',
    "“{}”的地址中含有用户名或密码，请改为保存凭据",
  ],
  ['"{}" answered with status {}', "“{}”应答的状态码为 {}"],
  ['"{}" redirects to a place that is no URL', "“{}”重定向到的位置不是 URL"],
  ['"{}" redirects to a "{}" address, only http and https are followed', "“{}”重定向到“{}”地址，只跟随 http 和 https"],
  [
    '"{}" redirects from https to http at "{}", which is not followed',
    "“{}”从 https 重定向到 http（位于“{}”），不会跟随",
  ],
  ['"{}" redirects a request with a body to "{}", which is not followed', "“{}”把带正文的请求重定向到“{}”，不会跟随"],
  ['The name "{}" has {} addresses, at most {} are taken', "域名“{}”有 {} 个地址，最多接受 {} 个"],
  ['The answer is compressed as "{}", which was not asked for', "应答以未请求的“{}”方式压缩"],
];
