import type { FieldDictionary } from "../fields.ts";
import { credentials } from "./credentials.ts";

/** 机密信息在两个表单中填写。 */
const secrets: FieldDictionary = {
  token: { title: "令牌", description: "由该平台签发的个人访问令牌" },
  basic_auth: { title: "用户名和密码", description: "格式为“用户名:密码”" },
  username: { title: "用户名", description: "用于登录拉取镜像的仓库，不用于登录引擎" },
  password: { title: "密码", description: "也可以是访问令牌" },
  kubeconfig: { title: "Kubeconfig", description: "须内含数据：`kubectl config view --raw --flatten`" },
  api_key: { title: "API 密钥", description: "在 Portainer 的用户设置中创建" },
};

function secretsOf(area: string): FieldDictionary {
  return Object.fromEntries(Object.entries(secrets).map(([name, words]) => [`${area}.secret.${name}`, words]));
}

/** 表单字段的中文：按“区域.路径”或字段名查找，`options` 为各选项的名称。 */
export const fields: FieldDictionary = {
  name: { title: "名称" },
  description: { title: "描述" },
  kind: { title: "类型" },
  username: { title: "用户名" },
  credential_id: { title: "凭据" },
  is_enabled: { title: "启用" },
  secret: { title: "机密信息" },
  ca_certificate: { title: "CA 证书", description: "PEM 格式，用于校验引擎或集群的证书" },
  client_certificate: { title: "客户端证书", description: "PEM 格式" },
  client_key: { title: "客户端密钥", description: "PEM 格式" },
  "credentials.kind": { options: credentials.kinds },
  ...secretsOf("credentials"),
  ...secretsOf("connections"),
  "trackers.sources.channels.requires_agreement": {
    title: "仅当所有来源一致时",
    description: "追踪器的每个来源都在同名通道中出现该版本后，它才成为最新版本",
  },
  "imports.format": {
    title: "格式",
    options: {
      auto: "自动识别",
      compose: "Compose 文件（含 Diun 和 WUD 的标签）",
      images: "镜像引用列表",
      diun: "Diun：“file provider”文件",
      argus: "Argus：配置",
      release_tracker: "ReleaseTracker：JSON 格式的追踪器",
    },
  },
  "imports.variables": {
    title: "变量",
    description: "compose 文件旁的 `.env` 文件，或若干行 `NAME=value`。只用于解析镜像引用，不会保存",
  },
  "imports.text": { title: "文本", description: "添加之前会先显示预览" },
  "oidc_providers.display_name": { title: "显示名称", description: "登录页按钮上的名称" },
  "oidc_providers.slug": { title: "标识", description: "回调地址的一部分，之后无法修改" },
  "oidc_providers.client_id": { title: "客户端 ID", description: "由身份提供方签发" },
  "oidc_providers.client_secret": { title: "客户端密钥", description: "由身份提供方签发" },
  "oidc_providers.is_discovery_enabled": { title: "启用 OIDC 自动发现", description: "推荐：从签发者读取各端点" },
  "oidc_providers.issuer_url": {
    title: "签发者地址",
    description: "与提供方写入令牌的内容完全一致，末尾的斜杠也算在内",
  },
  "oidc_providers.authorization_url": { title: "授权地址", description: "浏览器前往登录的地址" },
  "oidc_providers.token_url": { title: "令牌地址", description: "用授权码换取令牌的地址" },
  "oidc_providers.jwks_url": { title: "JWKS 地址", description: "签名令牌的公钥所在地址" },
  "oidc_providers.userinfo_url": { title: "用户信息地址", description: "仅供记录，不会被访问" },
  "oidc_providers.scopes": { title: "授权范围" },
  "oidc_providers.icon_url": { title: "图标地址", description: "按钮的图标，留空则显示首字母" },
  "oidc_providers.is_enabled": { title: "启用此提供方", description: "关闭时不会出现在登录页，也无法用于登录" },
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
      executor_run_awaiting_approval: "执行器运行等待批准",
      connection_lost: "连接已断开",
      upstream_unreachable: "上游没有响应",
      credential_refused: "凭据被拒绝",
    },
  },
  "settings.base_url": {
    title: "基础地址",
    description: "访问本实例所用的地址，用于通知中的链接和通过登录提供方登录",
  },
  "settings.timezone": { title: "时区", description: "用于按日期分组和安排维护窗口" },
  "settings.log_level": {
    title: "日志级别",
    options: { info: "信息", warning: "警告", error: "错误", debug: "调试" },
  },
  "settings.version_history_count": {
    title: "保留的版本数",
    description: "每个来源和发布通道保留的版本数。发现新版本时移除较旧的版本",
  },
  "settings.snapshot_history_count": {
    title: "保留的快照数",
    description: "每个执行器保留的快照数。保存新快照时移除较旧的快照",
  },
  "settings.audit_retention_days": {
    title: "审计日志保留天数",
    description: "写入新记录时移除更早的记录。30 天以内的记录不会被移除",
  },
  "api_tokens.current_password": { title: "当前密码" },
  "api_tokens.scope": { title: "权限范围", options: { read: "只读", full: "完整" } },
  "api_tokens.expires_in_days": { title: "有效期（天）" },
  "trackers.sources": { title: "来源", item: "来源" },
  "trackers.sources.channels": { title: "发布通道", item: "通道" },
  "trackers.name": { title: "追踪器名称", description: "将用于追踪器的地址，添加后不能修改" },
  "trackers.sources.key": {
    title: "来源标识",
    description: "在追踪器内标识此来源。标识不变，则保留其历史和执行器绑定",
  },
  "trackers.sources.kind": {
    title: "来源类型",
    options: { gitea: "Gitea 或 Forgejo", helm: "Helm Chart 仓库", oci: "容器镜像仓库" },
  },
  "trackers.sources.config": { title: "位置" },
  "trackers.sources.config.repository": { title: "仓库", description: "也可填写其页面的地址" },
  "trackers.sources.config.fetch_mode": {
    title: "GitHub 获取方式",
    description: "GraphQL 优先更准确。REST 优先可能遗漏由较旧提交发布的版本",
    options: { rest: "REST 优先：无需令牌", graphql: "GraphQL 优先：推荐，需要令牌" },
  },
  "trackers.sources.config.project": {
    title: "项目",
    description: "包含群组的完整路径、数字项目 ID，或项目的网址",
  },
  "trackers.sources.config.instance_url": {
    title: "实例地址",
    description: "自建实例的地址。使用 github.com 或 gitlab.com，或仓库已填写为完整地址时，可以留空",
  },
  "trackers.sources.config.image": {
    title: "镜像名称",
    description: "可填写完整的镜像引用：采用其中的仓库地址，忽略标签和摘要",
  },
  "trackers.sources.config.chart": { title: "Chart 名称" },
  "trackers.sources.config.repository_url": {
    title: "Chart 仓库地址",
    description: "有 `index.yaml` 的仓库用 `https://`，镜像仓库中的 Chart 用 `oci://`（不加密时用 `oci+http://`）",
  },
  "trackers.sources.config.registry": {
    title: "镜像仓库地址",
    description: "留空则使用镜像名称中的仓库，否则为 Docker Hub。仅在写明 `http://` 时使用明文 HTTP",
  },
  "trackers.sources.config.published_at_mode": {
    title: "发布时间",
    description:
      "自动：采用构建时间，在 Docker Hub 上采用首次发现时间。读取构建时间时，每个新标签需要两到三次请求，在 Docker Hub 上会计入拉取次数",
    options: {
      auto: "自动",
      build_time: "构建时间",
      first_observed: "首次发现时间",
    },
  },
  "trackers.sources.credential_id": { title: "凭据", description: "用于私有来源，须为同一类型的凭据" },
  "trackers.sources.channels.type": {
    title: "发布通道类型",
    options: { stable: "稳定版", prerelease: "预发布版", beta: "测试版", canary: "金丝雀版" },
  },
  "trackers.sources.channels.name": {
    title: "发布通道名称",
    description: "用于区分同类型的通道，例如 16 和 17。执行器按名称跟随通道",
    placeholder: "与类型相同",
  },
  "trackers.sources.channels.release_type": {
    title: "发布类型",
    description: "只接受上游如此标记的版本",
    options: { release: "正式版", prerelease: "预发布版" },
  },
  "trackers.sources.channels.include_pattern": {
    title: "包含模式",
    description: "只追踪匹配的标签，留空则接受全部。不支持环视：要排除的内容请写入排除模式",
  },
  "trackers.sources.channels.exclude_pattern": {
    title: "排除模式",
    description: "匹配的标签即使符合包含模式也会被排除。填写 `rc` 即相当于其他工具中的 `^(?!.*rc)`",
  },
  "trackers.check_interval_minutes": { title: "检查间隔（分钟）" },
  "trackers.fetch_depth": {
    title: "每次检查的版本数",
    description:
      "即获取深度：每次检查为每个来源保留的版本数，由各通道共享；每个通道至少一个，且不超过设置中保留的版本数",
  },
  "trackers.request_timeout_seconds": { title: "请求超时（秒）", description: "每个网络请求的时限" },
  "trackers.sorting": {
    title: "最新版本的判定方式",
    description:
      "按发布时间：取主要标签系列中最新发布的版本，正式版优先于候选版。按版本：适合同时维护旧版本的项目，不会把旧版本的补丁当作最新",
    options: { publish_time: "按发布时间", semantic: "按语义化版本" },
  },
  "trackers.release_notes": { title: "发布说明" },
  "trackers.release_notes.source": {
    title: "发布说明来源",
    options: { release: "使用发布自带的说明", changelog: "使用自定义更新日志" },
  },
  "trackers.release_notes.changelog_source_key": {
    title: "更新日志所在的仓库来源",
    description: "追踪器只有一个仓库时可留空",
  },
  "trackers.release_notes.path_template": {
    title: "更新日志路径模板",
    description: "仓库内的路径，可使用 `{tag}`、`{version}`、`{major}`、`{minor}` 和 `{patch}`",
  },
  "trackers.release_notes.ref": {
    title: "文件引用",
    options: { default_branch: "默认分支", release_tag: "发布标签", specific: "指定引用" },
  },
  "trackers.release_notes.specific_ref": { title: "指定引用", description: "分支、标签或提交" },
  "trackers.release_notes.extraction": {
    title: "提取方式",
    options: { entire_file: "整个文件", section: "匹配版本的章节", subheading: "匹配章节中的指定子标题起" },
  },
  "trackers.release_notes.heading_template": {
    title: "版本标题模板",
    description: "包含 `{tag}` 或 `{version}` 的模式，留空则匹配常见形式",
  },
  "trackers.release_notes.subheading": { title: "起始子标题", description: "子标题开头的文字" },
  "trackers.release_fallback": {
    title: "发布回退",
    description: "上游没有正式发布时，改用 Git 标签；一旦出现过发布，就不再使用",
  },
  "executors.bindings": { title: "跟随的版本", item: "绑定" },
  "connections.is_enabled": { title: "启用", description: "停用后不会发现其中的目标，运行会被跳过" },
  "connections.kind": { title: "类型", options: { docker: "Docker 引擎", podman: "Podman" } },
  "connections.concurrent_runs": { title: "同时运行数", description: "此连接上可同时执行的运行数量，其余排队等待" },
  "connections.config": { title: "地址" },
  "connections.config.address": {
    title: "套接字或主机地址",
    description: "套接字或 `tcp://主机:端口`。留空则使用 `{placeholder}`",
  },
  "connections.config.in_cluster": {
    title: "集群内模式",
    description: "Tidemark 运行在该集群中，使用其 Pod 的服务账号",
  },
  "connections.config.server": {
    title: "API 服务器地址",
    description: "用于令牌或客户端证书；kubeconfig 自带地址。仅限 https",
  },
  "connections.config.context": { title: "上下文", description: "kubeconfig 中的上下文；留空使用当前上下文" },
  "connections.config.namespaces": {
    title: "命名空间",
    description: "以逗号分隔；留空表示凭据可列出的所有命名空间",
  },
  "connections.config.helm": {
    title: "Helm 发布",
    description: "同时列出并更新 Helm 发布；需要读取 Helm 存储位置的权限以及 helm 程序",
  },
  "connections.config.stall_seconds": {
    title: "滚动更新最长停滞时间（秒）",
    description: "滚动更新在此时间内毫无进展即为失败。Deployment 自身的进度期限同样有效",
  },
  "connections.config.url": {
    title: "Portainer 地址",
    description: "与浏览器中打开的地址相同，不带 `#` 及其后的部分",
  },
  "connections.config.endpoint_id": {
    title: "Endpoint ID",
    description: "环境的编号：`#!/1/docker/dashboard` 中的 1",
  },
  "connections.config.ca_certificate": {
    title: "CA 证书",
    description: "PEM 格式。Portainer 使用私有机构签发或自签名的证书时需要",
  },
  "connections.config.update_stall_seconds": {
    title: "更新最长停滞时间（秒）",
    description: "Portainer 在容器没有任何变化的情况下可以工作多久，例如拉取镜像期间",
  },
  "connections.config.api_version": { title: "API 版本", description: "留空则协商双方都支持的最高版本" },
  "connections.config.tls_verification": {
    title: "TLS 验证",
    description: "通过 tcp 连接时，对方必须出示有效证书；自有 CA 请放入凭据。关闭验证且凭据中没有证书时，使用明文 HTTP",
  },
  "connections.config.registry": {
    title: "凭据所属的镜像仓库",
    description: "只有此仓库会收到凭据中的用户名和密码；留空表示 Docker Hub",
  },
  "executors.connection_id": { title: "连接" },
  "executors.target": { title: "目标" },
  "executors.target.kind": { title: "类型", description: "连接所具有的类型，例如 container 或 compose" },
  "executors.target.id": { title: "目标" },
  "executors.bindings.service": { title: "服务" },
  "executors.bindings.tracker": { title: "追踪器" },
  "executors.bindings.source": { title: "来源" },
  "executors.bindings.channel": { title: "发布通道" },
  "executors.trigger": {
    title: "触发方式",
    options: { manual: "手动", immediate: "立即", window: "维护窗口" },
  },
  "executors.window": { title: "维护窗口" },
  "executors.window.days": {
    title: "维护日",
    description: "窗口属于其开始的那一天",
    options: {
      monday: "星期一",
      tuesday: "星期二",
      wednesday: "星期三",
      thursday: "星期四",
      friday: "星期五",
      saturday: "星期六",
      sunday: "星期日",
    },
  },
  "executors.window.start": { title: "开始时间", description: "使用系统时区" },
  "executors.window.end": { title: "结束时间", description: "早于开始时间表示次日；与开始时间相同表示全天" },
  "executors.image_selection": {
    title: "镜像选择策略",
    description: "“替换”适用于任何来源：代码仓库或 Chart 的版本会按当前标签的写法成为镜像的标签",
    options: { keep_name: "替换当前镜像的标签", use_tracker: "使用追踪器的镜像和标签" },
  },
  "executors.reference_mode": { title: "镜像引用方式", options: { digest: "摘要", tag: "标签" } },
  "executors.health_check": { title: "健康检查" },
  "executors.health_check.strategy": {
    title: "方式",
    options: {
      auto: "自动（推荐）",
      native: "引擎就绪状态",
      http: "手动 HTTP 探测",
      tcp: "手动 TCP 探测",
      release: "Helm 发布状态",
      disabled: "停用",
    },
  },
  "executors.health_check.on_failure": {
    title: "失败时",
    description: "“不健康”会保留新版本",
    options: { failed: "标记为失败", degraded: "标记为不健康" },
  },
  "executors.health_check.initial_delay_seconds": {
    title: "首次延迟（秒）",
    description: "从更新结束到第一次探测",
  },
  "executors.health_check.single_timeout_seconds": { title: "单次超时（秒）", description: "单次探测最长用时" },
  "executors.health_check.probe_interval_seconds": { title: "探测间隔（秒）", description: "两次探测之间的时间" },
  "executors.health_check.total_probe_duration_seconds": {
    title: "探测总时长（秒）",
    description: "首次延迟之后持续探测的时间；自动和引擎检查至少持续 10 秒再加一个探测间隔",
  },
  "executors.health_check.probe": { title: "探测" },
  "executors.health_check.probe.protocol": { title: "协议" },
  "executors.health_check.probe.host": {
    title: "主机",
    description: "HTTP 探测必须是公网主机，每次探测都会检查解析到的地址；TCP 探测可以是内网主机",
  },
  "executors.health_check.probe.port": { title: "端口", description: "http 用 80 或 8080；https 用 443、8443 或 9443" },
  "executors.health_check.probe.path": { title: "路径" },
  "executors.health_check.probe.method": { title: "方法" },
  "executors.health_check.probe.expected_status_codes": {
    title: "期望的状态码",
    description: "留空接受所有 2xx 以及不是重定向的 3xx；重定向一律不接受",
  },
  "executors.health_check.probe.expected_body_pattern": {
    title: "期望的响应内容",
    description: "须在响应的前 64 KiB 内找到；留空接受任何内容",
  },
  "executors.restore_on_failure": {
    title: "失败时恢复",
    description: "新版本未通过健康检查时恢复旧版本",
  },
  "executors.allow_downgrade": {
    title: "允许降级",
    description: "自动运行可以转到较低的版本，或无法比较的版本；但不会转到其他变体或版本线",
  },
  "executors.minimum_age_hours": {
    title: "观察期（小时）",
    description: "只采用首次发现至今已满此时长的版本",
  },
  "executors.requires_approval": { title: "需要批准", description: "自动运行会等待您批准其计划" },
  "executors.approval_hours": { title: "等待批准（小时）", description: "在此时间内未获批准的运行会被跳过" },
  "executors.accepted_unknown_settings": {
    title: "已接受的未知设置",
    description: "unknown_settings 中的条目，须逐字一致：自动运行不再因它们停下，也不会保留这些设置",
  },
  "executors.start_first": {
    title: "先启动后停止",
    description: "先启动新容器，再停止旧容器；两者不能同时运行（例如发布了端口）时会被拒绝",
  },
  "executors.drain_seconds": {
    title: "同时运行时长（秒）",
    description: "新容器就绪后旧容器继续运行的时长，供代理切换到新容器",
  },
};
