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
  is_enabled: { title: "启用" },
  secret: { title: "密文" },
  ca_certificate: { title: "CA 证书", description: "PEM 格式，用于校验引擎的证书" },
  client_certificate: { title: "客户端证书", description: "PEM 格式" },
  client_key: { title: "客户端密钥", description: "PEM 格式" },
  "credentials.kind": {
    title: "类型",
    options: {
      gitea: "Gitea 或 Forgejo",
      helm: "Helm Chart 仓库",
      oci: "OCI 或 Docker 镜像仓库",
      docker: "Docker 引擎",
      podman: "Podman 引擎",
      kubernetes: "Kubernetes 集群",
    },
  },
  "credentials.secret.token": { title: "令牌", description: "由该平台签发的访问令牌" },
  "credentials.secret.basic_auth": { title: "用户名和密码", description: "格式为“用户名:密码”" },
  "credentials.secret.password": { title: "密码", description: "也可以是访问令牌" },
  "credentials.secret.kubeconfig": { title: "Kubeconfig 内容" },
  "credentials.secret.api_key": { title: "API 密钥", description: "在 Portainer 的用户设置中创建" },
  "notifiers.url": {
    title: "Webhook 地址",
    description: "公网的 http 或 https 地址，端口为 80、8080、443、8443 或 9443",
  },
  "notifiers.signing_secret": {
    title: "签名密钥",
    description: "用 HMAC-SHA-256 为每条消息签名，便于接收方识别真伪",
  },
  "notifiers.language": { title: "消息语言", options: { en: "English", zh: "中文" } },
  "notifiers.trigger_events": {
    title: "触发事件",
    options: {
      new_release: "新版本",
      republish: "重新发布",
      executor_run_succeeded: "执行器运行成功",
      executor_run_failed: "执行器运行失败",
      executor_run_skipped: "执行器运行已跳过",
    },
  },
  "settings.base_url": {
    title: "基础地址",
    description: "访问本实例所用的地址，用于通知中的链接。留空则使用当前访问地址",
  },
  "settings.timezone": { title: "时区", description: "用于按日期分组和安排维护窗口" },
  "settings.log_level": {
    title: "日志级别",
    options: { info: "信息", warning: "警告", error: "错误", debug: "调试" },
  },
  "settings.version_history_count": {
    title: "版本历史数量",
    description: "每个来源和发布通道保留的版本数。发现新版本时移除较旧的版本",
  },
  "settings.snapshot_history_count": {
    title: "快照历史数量",
    description: "每个执行器保留的快照数。保存新快照时移除较旧的快照",
  },
  "api_tokens.scope": { title: "权限范围", options: { read: "只读", full: "完全" } },
  "api_tokens.expires_in_days": { title: "有效期（天）" },
  "trackers.sources": { title: "来源", item: "来源" },
  "trackers.sources.channels": { title: "发布通道", item: "通道" },
  "executors.bindings": { title: "绑定", item: "绑定" },
};
