import type { MessageDictionary } from "../messages.ts";

/** 账户、凭据、通知、列表与请求的消息。 */
const general: MessageDictionary = [["A signing secret has at most 256 characters", "签名密钥最多 256 个字符"]];

/** 密钥与备份的消息。 */
const keysAndBackups: MessageDictionary = [
  ["Choose yes or no", "请选择是或否"],
  ["The database could not be copied: {}", "无法复制数据库：{}"],
  ["The copy of the database is damaged: {}", "数据库的副本已损坏：{}"],
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
