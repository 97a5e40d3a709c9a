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
  ['The check of "{}" has not ended yet', "“{}”的检查尚未结束"],
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
];

export const serviceMessages: MessageDictionary = [...general, ...keysAndBackups, ...trackersAndSources];
