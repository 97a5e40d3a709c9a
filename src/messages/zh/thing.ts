import type { thing as english } from "../thing.ts";
import type { Rendering } from "../types.ts";

export const thing = {
  api_token: " API 令牌",
  backup: "备份",
  connection: "连接",
  credential: "凭据",
  delivery: "投递记录",
  executor: "执行器",
  identity_provider: "身份提供方",
  ignored_target: "已忽略的目标",
  image: "镜像",
  image_list: "连接镜像列表",
  notifier: "通知",
  page: "页面",
  release: "版本",
  run: "运行记录",
  run_log: "运行日志",
  session: "会话",
  snapshot: "快照",
  source: "来源",
  tracker: "追踪器",
} satisfies Rendering<typeof english>;
