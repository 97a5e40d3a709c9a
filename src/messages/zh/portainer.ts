import type { portainer as english } from "../portainer.ts";
import type { Rendering } from "../types.ts";
import { quotedList } from "./lists.ts";

export const portainer = {
  stack: "堆栈",
  saved_files: "保存的堆栈文件",
  address_wanted: "请按 https://主机:端口 的形式填写 Portainer 地址，不带 # 之后的部分",
  ca_wanted: "请粘贴 PEM 格式的证书，从 BEGIN CERTIFICATE 到 END CERTIFICATE",
  plain_http: "API 密钥会以明文发送：请使用 Portainer 的 https 地址",
  credential_missing: "请选择含有 Portainer API 密钥的凭据",
  key_with_spaces: "API 密钥中包含空格或换行：请以单行粘贴",

  unauthenticated: "Portainer 不接受该 API 密钥：密钥已删除、用户已停用，或属于另一个 Portainer",
  redirected: ({ status }) =>
    `Portainer 重定向到其他地址（${status}），Tidemark 不会携带 API 密钥跟随。请填写 Portainer 自身监听的地址`,
  refused: ({ status, said }, tell) => `Portainer 返回 ${status}：${tell(said)}`,
  not_portainer: ({ status }) => `响应（${status}）不是来自 Portainer 的 API：请检查地址以及前面的代理`,
  broken_off: "Portainer 的响应中断",
  odd_id: "引擎列出的一个容器 ID 无效",
  environment_missing: ({ endpoint, known }) =>
    `Portainer 没有环境 ${endpoint}${known.length === 0 ? "，该 API 密钥也无权使用任何环境" : `；该 API 密钥可使用 ${known.join("、")}`}`,
  not_docker: ({ environment }) => `环境“${environment}”不是 Docker 引擎。Kubernetes 请使用单独的连接`,
  stacks_not_editable: ({ environment }) =>
    `只有管理员可以编辑“${environment}”中的堆栈：请使用管理员的 API 密钥，或允许普通用户管理堆栈`,

  stack_missing: ({ stack }) => `Portainer 的此环境中没有堆栈“${stack}”`,
  service_missing: ({ service, stack }) => `堆栈“${stack}”的文件中没有服务“${service}”`,
  swarm: "这是 Swarm 堆栈；Tidemark 只更新独立的 compose 堆栈",
  kubernetes: "这是 Kubernetes 应用；请为该集群添加 Kubernetes 连接来更新",
  unknown_type: ({ type }) => `此版本的 Tidemark 不认识它的类型（${type}）；请升级 Tidemark`,
  git: "它从 git 仓库部署，在此更新会使其脱离仓库：请在仓库中修改镜像",
  further_files: ({ files }) =>
    `它由多个 compose 文件组成（${quotedList(files)}），而 Portainer 只提供第一个：实际运行的镜像可能由其他文件决定`,
  stopped: "它在 Portainer 中已停止，更新会将其启动：请先启动它",
  deploying: "Portainer 正在部署它：请等待部署结束",
  file_refused: ({ cause }, tell) => `无法使用它的文件：${tell(cause)}`,
  own_container: "Tidemark 自身运行在此堆栈中，更新会在中途使其停止",
  itself: "Portainer 自身运行在此堆栈中，更新会在中途使其停止",
  no_containers: "它没有容器，但 Portainer 将其视为运行中",
  not_in_file: ({ services }) => `${quotedList(services)}的容器在运行，但堆栈文件中已没有该服务`,

  pulled_too: ({ services }) =>
    `Portainer 会拉取所有服务的镜像。如果${quotedList(services)}的标签已指向新内容，该服务也会被替换；在堆栈文件中使用摘要可避免`,
  variable_passed: ({ services }) => `更改的变量也会传给${quotedList(services)}的容器`,
  same_reference: ({ service, reference }) =>
    `“${service}”已使用 ${reference}，而该标签已指向新内容：如果更新失败，保存的堆栈文件无法恢复旧镜像。引用方式“摘要”可以`,
  whole_file: ({ lines, variables }) => {
    const parts = [lines === 0 ? "" : `${lines} 行`, variables === 0 ? "" : `${variables} 个变量`];
    return `整个堆栈文件和环境变量将恢复为保存时的内容：${parts.filter((part) => part !== "").join("和")}不同`;
  },
  edits_file: "Tidemark 在堆栈文件中作此更改；其余字符保持不变",
  edits_variable: "Tidemark 更改堆栈的此变量；其余变量保持不变",
  nothing_to_save: ({ stack }) => `堆栈“${stack}”没有可保存的 compose 文件`,
  saved_unreadable: "无法读取保存的堆栈文件",

  changed_since_plan: "生成计划之后堆栈已发生变化；请重新查看计划",
  not_sent: "没有向 Portainer 发送任何内容",
  deployed: "Portainer 已部署新的堆栈文件",
  as_before: "堆栈与之前相同",
  changed_meanwhile: "堆栈已在 Tidemark 之外修改",
  not_deployed: ({ cause }, tell) => `Portainer 没有部署新的堆栈文件。${tell(cause)}`,
  deployment_failed: ({ said }, tell) => {
    const words = tell(said);
    return `Portainer 已保存新的堆栈文件，但部署失败${words === "" ? "" : `：${words}`}`;
  },
  took_down: ({ cause }, tell) => `Portainer 无法部署新的堆栈文件，并删除了堆栈的容器。${tell(cause)}`,
  not_arrived: ({ cause }, tell) => `更新没有执行：Portainer 仍保留旧的堆栈文件，容器仍在运行。${tell(cause)}`,
  unfinished: ({ cause }, tell) => `Portainer 已保存新的堆栈文件，但没有完成部署。${tell(cause)}`,
  still_working: "Portainer 已保存新的堆栈文件，但仍在运行旧版本。它可能仍在处理：请在 Portainer 中检查该堆栈",
  put_back: "已重新部署保存的堆栈文件和环境变量，旧版本正在运行",
  not_put_back: ({ cause }, tell) => `已将保存的堆栈文件重新发送给 Portainer，但旧版本没有运行。${tell(cause)}`,
  nothing_saved: "没有可恢复的已保存堆栈文件",
  tag_moved: "已重新部署保存的堆栈文件，但其标签现在指向新镜像",

  no_container: "没有容器",
  not_replaced: "容器仍是另一版本",
  all_run: ({ services }) => (services === 1 ? "服务正在运行并已就绪" : `全部 ${services} 个服务正在运行并已就绪`),
  stalled: ({ seconds, cause }, tell) => `${seconds} 秒内没有变化。${tell(cause)}`,

  step_deploy: ({ state }) =>
    ({
      waiting: "部署新的堆栈文件",
      running: "正在部署新的堆栈文件",
      done: "新的堆栈文件已部署",
      failed: "新的堆栈文件未部署",
    })[state],
  step_follow: ({ state }) =>
    ({
      waiting: "跟踪服务",
      running: "正在跟踪服务",
      done: "服务正在运行新版本",
      failed: "服务没有运行新版本",
    })[state],
  step_undo: ({ state }) =>
    ({
      waiting: "部署保存的堆栈文件",
      running: "正在部署保存的堆栈文件",
      done: "已重新部署保存的堆栈文件",
      failed: "旧版本未恢复",
    })[state],
} satisfies Rendering<typeof english>;
