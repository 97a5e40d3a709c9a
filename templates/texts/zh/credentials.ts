import { plural } from "../../format.ts";
import type { Texts } from "../texts.ts";

export const credentials = {
  title: "凭据",
  lead: (count: number) => `${plural("zh", count, { one: "个凭据", other: "个凭据" })}，均已加密存储`,
  add: "添加凭据",
  kinds: {
    github: "GitHub",
    gitlab: "GitLab",
    gitea: "Gitea 或 Forgejo",
    helm: "Helm Chart 仓库",
    oci: "OCI 或 Docker 镜像仓库",
    docker: "Docker 引擎",
    podman: "Podman 引擎",
    kubernetes: "Kubernetes 集群",
    portainer: "Portainer",
  },
  states: { unreadable: "无法读取", refused: "被拒绝", used: "使用中", unused: "未使用" },
  unreadable_title: "此凭据无法使用",
  unreadable_text: "请在下方重新填写全部机密信息。保存之前，原有内容会原样保留；您仍可重命名或删除此凭据。",
  refused_title: "此凭据被拒绝",
  refused_text: "请在下方填写有效的机密信息。保存后会立即重新检查来源；连接请在其页面上测试。",
  stored: "已存储",
  changed: "修改时间",
  save: "保存凭据",
  delete: "删除凭据",
  delete_text: "其机密信息将被删除。当前没有任何对象使用此凭据。",
  in_use_text: "以下对象正在使用此凭据。请先为它们更换凭据。",
  empty_title: "还没有凭据",
  empty_text: "用于私有镜像仓库、代码托管平台和容器引擎的令牌与密码。存储前会先加密，之后不再显示。",
  empty_example: "镜像仓库登录：类型选择“OCI 或 Docker 镜像仓库”，填写用户名和访问令牌。",
  user_kind: { connection: "连接", tracker: "追踪器" },
} satisfies Texts["credentials"];
