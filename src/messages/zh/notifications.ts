import type { notifications as english } from "../notifications.ts";
import type { Rendering } from "../types.ts";

export const notifications = {
  kind_unknown: ({ kind }) => `此版本的 Tidemark 不支持“${kind}”类型的通知；请升级 Tidemark，或删除该通知`,
  queue_full: ({ limit }) => `此通知的队列已满（${limit} 条正在等待）`,
  destination_redirects: "目标地址返回重定向，不会跟随；请填写最终地址",
  receiver_gone: "接收方返回 410 Gone：已停止发送",
  receiver_was_gone: "接收方此前返回了 410 Gone",
  receiver_answered: ({ status }) => `接收方返回 ${status}`,
  test_of_disabled: ({ name }) => `通知“${name}”已停用，不会发送任何消息；启用后才能发送测试消息`,
  unreadable: ({ name, cause }, tell) => `通知“${name}”无法发送：${tell(cause)}。请编辑此通知并重新填写 Webhook 地址`,
  url_wanted: "请同时重新填写地址：已保存的地址无法读取",
  notifier_disabled: "此通知已停用",
} satisfies Rendering<typeof english>;
