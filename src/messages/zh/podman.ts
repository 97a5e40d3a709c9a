import type { podman as english } from "../podman.ts";
import type { Rendering } from "../types.ts";
import { quotedList } from "./lists.ts";

export const podman = {
  from_folder: ({ path }) => `它由目录“${path}”创建，而不是由镜像创建`,
  secrets: ({ names }) => `它使用机密${quotedList(names)}，而 Podman 不报告每个机密是文件还是变量，以及位于何处`,
  foreign_namespace: ({ path }) => `它加入了网络命名空间“${path}”，而该命名空间不属于任何容器`,
  pid_file: ({ path }) => `它的进程号写入“${path}”（\`--pidfile\`），而 Podman API 无法设置该项`,
  service_container: "它是 Kubernetes 文件的服务容器，由 Podman 自行创建和移除",
  kube_play: "它由 Kubernetes 文件创建；请在文件中修改镜像后重新执行",
  id_file: ({ path }) => `文件“${path}”（\`--cidfile\`）中仍将是当前容器的 ID`,
  compose_unit: ({ unit }) =>
    `如果 systemd 单元“${unit}”已安装并启动，则项目的每个容器都停止过一次后，它会停止整个项目；请在更新前停止该单元，更新后再启动`,

  created_by_api:
    "它通过 API 创建。对这类容器，Podman 不会给出指定的地址、接口名称、内核参数、设备权限、host 或 private 的 IPC 模式，以及哪些变量来自机密：这些设置不会被沿用",
  untold_options: ({ options }, tell) => `创建时使用了${options.map(tell).join("、")}，而 Podman 不会完整给出`,
  option: ({ what, option }, tell) => `${tell(what)}（--${option}）`,
  device_rules: "设备规则",
  device_rights: "设备权限",
  gpus: "GPU",
  masked_paths: "屏蔽路径",
  storage_options: "存储选项",
  personality: "执行域",
  passwd_entry: "/etc/passwd 或 /etc/group 的条目",
  host_users: "主机用户",
  root_folder: "代替镜像的根文件系统",
  init_program: "自带的 init 程序",
  init_container: "作为 init 容器",
  open_files: "打开的文件描述符",
  unset_variables: "去除镜像的变量",
  image_volumes: "镜像卷的处理方式",
  overlay: "overlay 挂载",
  own_hosts: "自己的 /etc/hosts",
  own_resolv_conf: "自己的 /etc/resolv.conf",
  seccomp_policy: "seccomp 策略",
  network_option: "网络选项",
} satisfies Rendering<typeof english>;
