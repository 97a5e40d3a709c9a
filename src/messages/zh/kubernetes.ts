import type { kubernetes as english } from "../kubernetes.ts";
import type { Message, Rendering } from "../types.ts";
import { quotedList } from "./lists.ts";

/** A cluster can have hundreds. */
const mostNames = 10;
const inNamespaces = (names: readonly string[]) => {
  if (names.length === 0) return "";
  const more = names.length > mostNames ? `等 ${names.length} 个` : "";
  return `命名空间${quotedList(names.slice(0, mostNames))}${more}中的 `;
};
const quoting = (tell: (message: Message) => string, said: Message) => {
  const text = tell(said);
  return text === "" ? "" : `：${text}`;
};

export const kubernetes = {
  server_wanted: "请按 https://主机:端口 的形式填写 API 服务器地址，不带路径",
  namespaces_wanted: "请填写命名空间名称，以逗号分隔，例如“default, monitoring”",
  too_many_namespaces: ({ limit }) => `最多填写 ${limit} 个命名空间；留空表示全部`,

  credential_missing: "请为该集群选择凭据，或使用集群内模式",
  server_missing: "凭据中没有 API 服务器地址：请在连接中填写",
  login_blank: "请粘贴或上传 kubeconfig，或填写令牌或客户端证书",
  login_missing: "kubeconfig 的用户没有令牌、证书或密码。请在其中补充，或另外填写令牌",
  token_with_spaces: "令牌中包含空格或换行：请以单行粘贴",
  not_in_cluster: "Tidemark 没有运行在 Kubernetes Pod 中，没有可用的服务账号",
  account_unreadable: ({ path }) => `无法读取服务账号文件“${path}”；请检查 Pod 的 automountServiceAccountToken`,
  kubeconfig_too_large: ({ kib }) => `kubeconfig 超过 ${kib} KiB`,
  kubeconfig_unreadable: "这不是 kubeconfig：应为包含 clusters、users 和 contexts 的 YAML，且不使用别名",
  context_missing: ({ known }) =>
    known.length === 0
      ? "kubeconfig 中没有上下文"
      : `kubeconfig 没有当前上下文：请在连接中从${quotedList(known)}中选择`,
  context_unknown: ({ context, known }) =>
    `kubeconfig 中没有上下文“${context}”${known.length === 0 ? "" : `；现有${quotedList(known)}`}`,
  kubeconfig_incomplete: ({ kind, name }) =>
    `kubeconfig 的上下文引用了${kind === "cluster" ? "集群" : "用户"}“${name}”，但文件中没有该项`,
  kubeconfig_refused: ({ member }) =>
    `Tidemark 不使用 kubeconfig 中的“${member}”：不会为此运行程序、读取文件或使用其他身份。请把数据本身写入 kubeconfig，或使用服务账号的令牌`,
  unverified: "kubeconfig 关闭了证书验证（insecure-skip-tls-verify）。请改为提供集群的 CA 证书",
  not_pem: ({ member }) => `kubeconfig 中的“${member}”不是 base64 编码的 PEM 文件`,

  certificate_expired: ({ host }) => `“${host}”的证书已过期：请在集群上续期，或校正本机时钟`,
  certificate_misnamed: ({ host }) => `“${host}”的证书不包含该名称：请填写证书中包含的地址`,
  certificate_untrusted: ({ host, has_ca }) =>
    has_ca
      ? `“${host}”的证书不是由凭据中的 CA 证书签发：请填写该集群自己的 CA 证书，并检查地址`
      : `“${host}”的证书不是由公共机构签发：请在凭据中填写集群的 CA 证书`,
  unauthenticated: "集群不接受该凭据：它已过期、已撤销或属于其他集群",
  refused: ({ status, said }, tell) => `API 服务器返回 ${status}${quoting(tell, said)}`,
  broken_off: "API 服务器的响应中断",
  endless_list: "API 服务器的列表没有结束",
  watch_unreadable: "API 服务器发送的事件不属于工作负载",
  unknown_kind: ({ kind }) => `“${kind}”不是工作负载类型`,
  nothing_listed: ({ namespaces }) => `该凭据无权列出${inNamespaces(namespaces)}工作负载`,
  namespaces_unlisted: "该凭据既无权列出全部工作负载，也无权列出命名空间：请在连接中填写命名空间",
  not_listed: ({ namespaces }) => `该凭据无权列出${inNamespaces(namespaces)}工作负载，已略过`,
  missing_right: ({ verbs, resource, namespaces, is_needed }) =>
    `该凭据无权对${inNamespaces(namespaces)}${resource} 执行 ${verbs.join("、")}${is_needed ? "" : "；失败原因的说明会较为简略"}`,
  logs_forbidden: ({ namespace }) => `该凭据无权在命名空间“${namespace}”中获取 pods/log`,

  owner: ({ kind, name }) => `${kind}“${name}”`,
  managed: ({ manager }, tell) => tell(manager),
  owned: ({ owner }, tell) => `它由 ${tell(owner)} 管理，镜像更新可能会被还原`,
  scheduled: "已安排",
  suspended: "已挂起",
  scaled_to_zero: "已缩减为 0",
  pods_short: ({ ready, wanted }) => `${wanted} 个 Pod 中 ${ready} 个就绪`,
  pods_ready: ({ ready, wanted }) => (ready === 0 ? "未就绪" : `${wanted} 个中 ${ready} 个就绪`),
  paused: "该 Deployment 已暂停：请先恢复再更新",
  on_delete: ({ kind }) => `该 ${kind} 只在 Pod 被删除时才替换（updateStrategy 为 OnDelete），更新不会生效`,
  being_deleted: "它正在被删除",
  partition_keeps_all: ({ partition }) => `分区 ${partition} 使所有 Pod 保持旧版本，因此更新不会生效`,
  partition: ({ partition }) => `分区 ${partition} 使编号更小的 Pod 保持旧版本`,
  no_replicas: "它没有副本，无法确认新版本能否运行",
  container_missing: ({ container, target }) => `“${target}”中没有容器“${container}”`,
  rollout_unfinished: ({ service, reference }) => `“${service}”已设置为 ${reference}，但滚动更新尚未完成`,
  same_reference: ({ service, reference }) =>
    `“${service}”已使用 ${reference}，而该标签已指向新内容：Pod 不会被替换。请使用引用方式“摘要”`,

  changed_since_plan: "生成计划之后工作负载已发生变化；请重新查看计划",
  not_patched: "工作负载未被修改",
  is_patched: "新镜像已设置",
  changed_meanwhile: "工作负载的镜像已在 Tidemark 之外修改",
  deleted_meanwhile: "工作负载已删除",
  undone: ({ cause }, tell) => `已重新设置旧版本的镜像：${tell(cause)}`,
  undo_stuck: ({ cause }, tell) => `已重新设置旧版本的镜像，但滚动更新没有完成：${tell(cause)}`,

  cronjob_set: "下一个任务将使用新镜像",
  cronjob_suspended: "该 CronJob 已挂起；恢复后的下一个任务将使用新镜像",
  not_observed: "控制器尚未处理此更改",
  rolling: ({ desired, updated, available, old }) =>
    `${desired} 个 Pod 中已更新 ${updated} 个，可用 ${available} 个${old === 0 ? "" : `，剩余旧 Pod ${old} 个`}`,
  rolled_out: ({ desired }) => (desired === 1 ? "Pod 已更新并可用" : `全部 ${desired} 个 Pod 已更新并可用`),
  no_pods: "该工作负载没有 Pod",
  deadline_exceeded: ({ said }, tell) => `已超过 Deployment 的进度期限${quoting(tell, said)}`,
  stalled: ({ seconds, cause }, tell) => `滚动更新 ${seconds} 秒内没有进展：${tell(cause)}`,
  because: ({ said, why }, tell) => `${tell(said)}。${tell(why)}`,
  pods_wait: ({ pods, why }, tell) => `${pods} 个 Pod 在等待：${tell(why)}`,
  pod_in_the_way: ({ pod, why }, tell) =>
    `另一版本的 Pod“${pod}”未就绪${why === null ? "" : `（${tell(why)}）`}，而 StatefulSet 在所有 Pod 就绪之前不会替换任何 Pod：请删除该 Pod 以使滚动更新继续`,
  not_created: ({ said }, tell) => `无法创建 Pod${quoting(tell, said)}`,
  unschedulable: ({ said }, tell) => `没有可用的节点${quoting(tell, said)}`,
  image_not_pulled: ({ container, image, said }, tell) => `无法拉取“${container}”的镜像 ${image}${quoting(tell, said)}`,
  crash_loop: ({ container, restarts, exit_code, reason }) =>
    `“${container}”反复崩溃（重启 ${restarts} 次${exit_code === null ? "" : `，最近的退出码为 ${exit_code}`}${reason === "OOMKilled" ? "，内存不足" : ""}）`,
  container_waits: ({ container, reason, said }, tell) =>
    `“${container}”无法启动：${tell(reason)}${quoting(tell, said)}`,
  container_ended: ({ container, exit_code, reason }, tell) =>
    `“${container}”已结束，退出码为 ${exit_code}（${tell(reason)}）`,
  not_ready: ({ container }) => `“${container}”在运行，但尚未就绪`,

  helm_release: "Helm 发布",
  helm_missing: "此处没有安装 helm 程序：会列出 Helm 发布，但无法更新。请安装 Helm 3.14 或更新版本，或设置 HELM_PATH",
  helm_old: ({ version, oldest }) => `helm ${version} 太旧，无法更新发布：需要 ${oldest} 或更新版本`,
  helm_strange: ({ said }, tell) => `helm 程序的输出不符合预期${quoting(tell, said)}`,
  helm_killed: "helm 在完成之前被终止",
  releases_not_listed: ({ namespaces }) =>
    `该凭据无权列出${inNamespaces(namespaces)}Secret 和 ConfigMap：已略过 Helm 发布`,
  release_missing: ({ release }) => `发布“${release}”不存在`,
  release_unreadable: ({ release }) => `无法读取发布“${release}”的存储状态`,
  manifest_unreadable: "该发布的对象不是 YAML",
  manifest_too_large: "该发布的对象过大，无法比较",
  release_not_installed: "其安装从未完成：请用 helm 完成安装或将其卸载",
  release_uninstalled: "它已卸载或正在卸载",
  release_owned: ({ owner }, tell) => `它由 ${tell(owner)} 管理，对 Chart 的更新可能会被还原`,
  release_pending: ({ status, revision }) =>
    `其修订版本 ${revision} 尚未完成（${status}）：helm 仍在运行或已被终止。在其完成或回滚之前，Helm 会拒绝其他更改。更新会先将其回滚`,
  release_failed: ({ revision, said }, tell) => `升级到修订版本 ${revision} 失败${quoting(tell, said)}`,
  other_chart: ({ from, to }) => `该发布使用 Chart“${from}”，而追踪器追踪的是“${to}”`,
  not_rendered: ({ said }, tell) => `新版本无法使用此发布的 values 安装：${tell(said)}`,
  crds_left: ({ names }) => `Helm 不会升级 CustomResourceDefinition：请自行应用新版本的定义（${quotedList(names)}）`,
  hooks_run: ({ names }) => `将运行 Chart 的钩子：${quotedList(names)}`,
  diff_cut: ({ more }) => `另有 ${more} 处更改未显示`,
  not_upgraded: "该发布未升级",
  is_upgraded: ({ revision }) => `该发布已有新的修订版本 ${revision}`,
  release_changed_meanwhile: ({ revision }) => `该发布已在 Tidemark 之外更改，现为修订版本 ${revision}`,
  upgrade_cut_off: ({ revision, status }) =>
    `helm 在完成之前被终止：该发布停留在修订版本 ${revision}（${status}），直到回滚为止`,
  upgrade_failed: ({ revision, said }, tell) => `升级到修订版本 ${revision} 失败：${tell(said)}`,
  of_workload: ({ kind, workload, said }, tell) => `${kind}“${workload}”：${tell(said)}`,
  rolled_back: ({ to }) => `该发布已回滚到修订版本 ${to}`,
  rollback_failed: ({ to, said }, tell) => `回滚到修订版本 ${to} 失败：${tell(said)}`,
  rollback_stuck: ({ to, cause }, tell) => `该发布已回滚到修订版本 ${to}，但其滚动更新未完成：${tell(cause)}`,
  release_status: ({ status }) => `Helm 报告该发布的状态为 ${status}`,

  saved_images: "以前的镜像",
  saved_revisions: "以前的修订版本",
  saved_unreadable: "无法读取该目标保存的内容",
  revision_gone: ({ revision }) => `Helm 已没有该发布的修订版本 ${revision}：它只保留最近十个`,

  step_unlock: ({ state }) =>
    ({
      waiting: "回滚未完成的修订版本",
      running: "正在回滚未完成的修订版本",
      done: "已回滚未完成的修订版本",
      failed: "未能回滚未完成的修订版本",
    })[state],
  step_upgrade: ({ state }) =>
    ({ waiting: "升级发布", running: "正在升级发布", done: "已升级发布", failed: "升级失败" })[state],
  step_roll_back: ({ state }) =>
    ({ waiting: "回滚发布", running: "正在回滚发布", done: "已回滚发布", failed: "未能回滚发布" })[state],
  step_patch: ({ state }) =>
    ({ waiting: "设置新镜像", running: "正在设置新镜像", done: "新镜像已设置", failed: "新镜像未设置" })[state],
  step_rollout: ({ state }) =>
    ({
      waiting: "跟踪滚动更新",
      running: "正在跟踪滚动更新",
      done: "滚动更新已完成",
      failed: "滚动更新未完成",
    })[state],
  step_undo: ({ state }) =>
    ({
      waiting: "恢复旧版本的镜像",
      running: "正在恢复旧版本的镜像",
      done: "旧版本的镜像已恢复",
      failed: "旧版本未恢复",
    })[state],
} satisfies Rendering<typeof english>;
