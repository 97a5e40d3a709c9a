import type { FieldDictionary } from "../fields.ts";

/** 表单字段的中文：按“区域.路径”或字段名查找，`options` 为各选项的名称。 */
export const fields: FieldDictionary = {
  name: { title: "名称" },
  description: { title: "描述" },
  enabled: { title: "启用" },
  kind: { title: "类型" },
  type: { title: "类型" },
  url: { title: "地址" },
  username: { title: "用户名" },
  password: { title: "密码" },
  token: { title: "令牌" },
  credential_id: { title: "凭据" },
  "trackers.sources": { title: "来源", item: "来源" },
  "trackers.sources.channels": { title: "发布通道", item: "通道" },
  "executors.bindings": { title: "绑定", item: "绑定" },
};
