import type { MessageDictionary } from "../messages.ts";

/** 账户、凭据、通知、列表与请求的消息。 */
const general: MessageDictionary = [
  ["The disk of the database is full; free space and try again", "数据库所在磁盘已满；请释放空间后重试"],
  ["A signing secret has at most 256 characters", "签名密钥最多 256 个字符"],
];

/** 密钥与备份的消息。 */
const keysAndBackups: MessageDictionary = [
  ["Choose yes or no", "请选择是或否"],
  ["The database could not be copied: {}", "无法复制数据库：{}"],
  ["The copy of the database is damaged: {}", "数据库的副本已损坏：{}"],
  ["Read a stored secret: the value is not encrypted", "读取已保存的机密：该值未加密"],
  ["Read the encryption key: it is not a Fernet key", "读取加密密钥：它不是 Fernet 密钥"],
  ["Read a stored secret: its content does not have the expected form", "读取已保存的机密：其内容格式不符合预期"],
  [
    "Decrypt a stored secret: the value is damaged or belongs to another key",
    "解密已保存的机密：该值已损坏或属于另一个密钥",
  ],
  [
    'The session key in {} is not usable; it must be at least {} random bytes in base64, as "openssl rand -base64 32" prints',
    "{} 中的会话密钥不可用；它必须是至少 {} 个随机字节的 base64，如“openssl rand -base64 32”的输出",
  ],
  [
    "The encryption key in {} is not usable; it must be a Fernet key: 32 random bytes in base64url with padding, 44 characters",
    "{} 中的加密密钥不可用；它必须是 Fernet 密钥：32 个随机字节的带填充 base64url，共 44 个字符",
  ],
  [
    'The key file "{}" cannot be read; give it to the user that runs Tidemark',
    "无法读取密钥文件“{}”；请让运行 Tidemark 的用户拥有它",
  ],
  [
    'The key file "{}" is a link that leads nowhere; mount or restore what it names',
    "密钥文件“{}”是指向不存在位置的链接；请挂载或恢复其目标",
  ],
  ['The key file "{}" is not a regular file', "密钥文件“{}”不是普通文件"],
  [
    'The key file "{}" has mode {} and others may read it; run chmod 600 on it, and rotate the keys if it was exposed',
    "密钥文件“{}”的权限为 {}，其他用户可以读取；请对其执行 chmod 600，若已泄露请轮换密钥",
  ],
  ['The key file "{}" has more than 64 KiB', "密钥文件“{}”超过 64 KiB"],
  [
    'The key file "{}" is damaged or of another version; restore it from a backup',
    "密钥文件“{}”已损坏或属于其他版本；请从备份恢复",
  ],
];

/** 追踪器、导入与来源的消息。 */
const trackersAndSources: MessageDictionary = [
  ['Sources of kind "{}" have no list of names to judge', "类型为“{}”的来源没有可供判断的名称列表"],
  ['The check of "{}" has not ended yet', "“{}”的检查尚未结束"],
  ["Nothing is sent while a source is only described", "仅描述来源时不会发送任何请求"],
  ["Name the tag", "请填写标签"],
  ["Write a list of release channels", "请填写发布通道的列表"],
  ["Write a list of sources", "请填写来源的列表"],
  ["Write a credential's id", "请填写凭据的 id"],
  ["This is no credential's id", "这不是凭据的 id"],
  ["The section for {} in the changelog is empty", "更新日志中 {} 的章节为空"],
  ["The changelog is empty", "更新日志为空"],
  ["This YAML cannot be taken: its aliases multiply it beyond measure", "无法接受此 YAML：其别名会使内容无限膨胀"],
  [
    "This is larger or deeper than any configuration: at most {} values are read",
    "内容比任何配置都更大或更深：最多读取 {} 个值",
  ],
  ["This is something else: it must have {}", "这是别的内容：它必须包含 {}"],
  ['the next page "{}" {}', "下一页“{}”{}"],
  ["is no address", "不是地址"],
  ['is on another origin than "{}"', "与“{}”不同源"],
  ["its pages run in a circle after page {}", "其分页在第 {} 页之后循环"],
  ["there are more than {}, at most {} are read", "数量超过 {}，最多读取 {}"],
  ["{} pages and {} characters", "{} 页、{} 个字符"],
  ["the names have {} characters together, at most {} are read", "名称共有 {} 个字符，最多读取 {} 个"],
  ['The {} has an error in "{}": {}', "{} 的“{}”有误：{}"],
  ['The credential has no "username" and "password"', "凭据中没有“username”和“password”"],
  ['"{}" is neither a tag nor a digest of "{}"', "“{}”既不是标签也不是摘要（属于“{}”）"],
  ['its digest is "{}", wanted is "{}"', "其摘要为“{}”，应为“{}”"],
  ["the answer has no usable token", "应答中没有可用的令牌"],
  ["the credential is not sent there, {}", "凭据不会发送到那里，{}"],
  ['The credential has no "token" that a request can carry', "凭据中没有请求可以携带的“token”"],
  ['The credential has no "token" that can be sent', "凭据中没有可以发送的“token”"],
  ['The credential has no usable "token"', "凭据中没有可用的“token”"],
  ['The credential has no "basic_auth" of the form "username:password"', "凭据中没有“用户名:密码”形式的“basic_auth”"],
  ['{} of "{}" is no good YAML: {}', "{}（属于“{}”）不是有效的 YAML：{}"],
  ["The registry's answer is larger than {}", "镜像仓库的应答大于 {}"],
  ["{} (line {} of the index)", "{}（索引第 {} 行）"],
  [
    '{} is no chart name: letters, digits, dots, dashes and underscores, as "ingress-nginx"',
    "{} 不是 Chart 名称：可用字母、数字、点、短横线和下划线，例如“ingress-nginx”",
  ],
  ["the answer was {}: {}", "应答为 {}：{}"],
  ["the answer was {}", "应答为 {}"],
  ["it is no path of a file", "这不是文件路径"],
];

export const serviceMessages: MessageDictionary = [...general, ...keysAndBackups, ...trackersAndSources];
