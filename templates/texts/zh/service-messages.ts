import type { MessageDictionary } from "../messages.ts";

/** 账户、凭据、通知、列表与请求的消息。 */
const general: MessageDictionary = [["A signing secret has at most 256 characters", "签名密钥最多 256 个字符"]];

/** 密钥与备份的消息。 */
const keysAndBackups: MessageDictionary = [];

/** 追踪器、导入与来源的消息。 */
const trackersAndSources: MessageDictionary = [];

export const serviceMessages: MessageDictionary = [...general, ...keysAndBackups, ...trackersAndSources];
