import type { refusals as english } from "../refusals.ts";
import type { Rendering } from "../types.ts";
import { quotedList } from "./lists.ts";

export const refusals = {
  not_updatable: ({ name, cause }, tell) => `无法更新“${name}”：${tell(cause)}`,

  leftover: ({ name }) => `它是“${name}”的更新所保留的备份，不是独立的目标`,
  leftovers: ({ name, names }) => `先前的更新留下了${quotedList(names)}；请确认“${name}”状态正常，然后移除遗留的容器`,
  auto_remove: "它以 `--rm` 启动：停止时引擎会将其移除，因此无法恢复",
  systemd_owned: ({ unit }) => `它由 systemd 单元“${unit}”管理；请改为修改该单元中的镜像`,
  pod_infra: "它是 pod 的基础设施容器，没有可更新的镜像",
  swarm_task: "它是 swarm 服务的任务；swarm 会自行替换任务",
  paused: "它已暂停；请先恢复或停止它，以明确更新之后的状态",
  being_removed: ({ state }) => `引擎正在移除它（状态“${state}”）`,
  own_container: "Tidemark 运行于其中，会在更新途中停止自身",
  own_connection: "到此引擎的连接经过它，会在更新途中中断",
  own_data: "它挂载了 Tidemark 自身数据所在的卷",
  volume_unnamed: ({ path }) => `引擎没有给出挂载在“${path}”的卷的名称，因此无法重新挂载`,
  network_lost: ({ network }) =>
    `引擎启动它失败时使它脱离了网络“${network}”。请用 \`docker network connect\` 重新连接或重新创建它，然后启动`,
  network_suspect: "上次启动时引擎未能连接其网络，可能使它脱离了某个网络。请检查它的网络，然后启动它",
  mac_unknown: ({ networks }) => `无法得知是否在${quotedList(networks)}上为它指定了 MAC 地址：引擎只在容器运行时给出`,
  image_missing: ({ id }) => `创建它所用的镜像（${id}）已不在引擎上`,
  image_by_id: "它由镜像 ID 创建，没有对应的仓库名称",
  volumes_from_missing: "它从中获取卷的容器已不存在",
  platform_mismatch: ({ image, container }) => `新镜像适用于 ${image}，而容器运行的是 ${container}`,
  hidden_settings: ({ api, settings, newest }) =>
    `此连接使用 API ${api}，它不显示 ${settings.join("、")}；引擎的 API ${newest} 才显示`,
  requires_leftover: ({ name }) => `它依赖先前的更新所保留的“${name}”，启动它会同时启动后者；请用最初的命令重新创建它`,
  requires_stopped: ({ name }) => `它依赖未运行的“${name}”，启动它会同时启动后者；请先启动“${name}”，或将两者都停止`,
  requires_ended: ({ name }) => `它依赖已经结束的“${name}”：每次启动它时，引擎都会再次运行后者`,
  compose_file: "compose 文件中也写有镜像：更新后请同步修改，否则下次 `docker compose up` 会撤销更新",
  replicas_differ: ({ service }) => `“${service}”的各个副本设置不同；请先用 \`docker compose up\` 使其一致`,
  has_dependents: ({ name, cause }, tell) => `“${name}”依赖于它，但无法重新创建：${tell(cause)}`,
  dependency_cycle: ({ names }) => `${quotedList([...names, names[0] ?? ""], " 依赖 ")}：循环依赖，没有可行的更新顺序`,
  job: "它按设计会自行结束，将用新镜像运行一次；恢复旧容器不会撤销它已完成的工作",

  start_first: ({ name, cause }, tell) => `“${name}”无法与它的新容器同时运行：${tell(cause)}；请关闭“先启动后停止”`,
  publishes_ports: "它发布了主机端口",
  uses_network: ({ network }) => `它使用网络“${network}”`,
  fixed_address: "它有固定的地址",
  fixed_mac_address: "它有固定的 MAC 地址",
  others_depend: ({ names }) => `${quotedList(names)}依赖于它`,

  files_too_large: (p) =>
    `compose 在容器“${p.name}”中放入了 ${p.files} 个文件，共 ${p.bytes} 字节；最多只能沿用 ${p.most_files} 个文件、${p.most_bytes} 字节；最大的是：${quotedList(p.largest)}`,
  files_too_many: ({ name, files, limit }) =>
    `“${name}”在卷之外有 ${files} 个改动过的文件，最多只在 ${limit} 个文件中查找 compose 所放的文件。请把数据放在卷中`,
  files_unreadable: ({ name, cause }, tell) => `无法读取 compose 放入“${name}”的文件，更新会使其丢失：${tell(cause)}`,
  file_changed: ({ path }) => `从容器读取“${path}”时它发生了变化`,
  files_over_limit: ({ path, bytes }) => `到“${path}”为止的文件合计超过 ${bytes} 字节`,
  file_path_escapes: "归档中有指向容器之外的路径",
  files_not_written: ({ paths }) => `引擎没有原样写入 compose 的全部文件：${paths.join("、")}`,

  tls_not_verified: ({ host }) => `未验证 ${host} 的证书；网络路径上的任何人都能读取和更改所发送的内容`,
  plain_tcp: ({ host }) => `没有 TLS 凭据时，${host} 以明文 TCP 访问：能访问它的人都拥有该主机的 root 权限`,
} satisfies Rendering<typeof english>;
