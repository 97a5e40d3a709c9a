import type { engine as english } from "../engine.ts";
import type { Rendering } from "../types.ts";

const span = (ms: number) => (ms < 1_000 ? `${ms} 毫秒` : `${ms / 1_000} 秒`);

export const engine = {
  container: "容器",
  compose_group: "Compose 组",

  is_podman: ({ version }) => `此地址的引擎是 Podman ${version}，不是 Docker；请将连接类型选为“Podman”`,
  is_not_podman: "此地址的引擎不是 Podman；请将连接类型选为“Docker 引擎”",
  podman_too_old: ({ version, oldest }) => `引擎是 Podman ${version}，支持的最低版本为 ${oldest}；请升级引擎`,
  api_not_offered: ({ min, max, wanted }) =>
    `引擎支持 API ${min} 至 ${max}，而连接要求 ${wanted}；请填写引擎支持的版本，或留空`,
  api_not_shared: ({ min, max, own_min, own_max }) =>
    `引擎支持 API ${min} 至 ${max}，而 Tidemark 支持 ${own_min} 至 ${own_max}；请升级较旧的一方`,
  too_many_containers: ({ count, limit }) => `引擎有 ${count} 个容器；最多支持 ${limit} 个`,
  requests_blocked: ({ requests }) => `以下请求无法到达引擎：${requests.join("、")}；请在套接字代理中放行`,
  address_wanted: "请填写 unix:///套接字路径、/套接字路径 或 tcp://主机:端口；明文 HTTP 请关闭“TLS 验证”",
  version_wanted: "请按 1.41 的形式填写版本，或留空",
  registry_wanted: "请按“主机”或“主机:端口”填写镜像仓库",

  refused: ({ request, status, answer }) => `引擎拒绝了 ${request}（${status}）${answer === null ? "" : `：${answer}`}`,
  port_held: ({ cause, port, holder }, tell) => `${tell(cause)}。“${holder}”发布了端口 ${port}`,
  port_not_released: ({ cause, port }, tell) =>
    `${tell(cause)}。没有容器发布端口 ${port}：引擎没有释放该端口。请重启引擎以释放它`,
  no_answer: ({ request, cause }, tell) => `引擎未响应 ${request}：${tell(cause)}`,
  answers_plain_http: "它使用明文 HTTP；请关闭“TLS 验证”，或填写使用 TLS 的端口",
  socket_unused: "没有引擎在监听该套接字；请启动引擎，如果 Tidemark 在容器中运行，请重新将套接字挂载到容器中",
  other_service: ({ cause }, tell) => `${tell(cause)}。请检查地址：响应的可能是其他服务`,
  silent: ({ ms }) => `${span(ms)}内没有响应`,
  stopped: "操作已停止",
  endless: ({ ms }) => `${span(ms)}内没有结束`,
  odd_status: ({ status }) => `响应的状态码为 ${status}`,
  redirects: ({ status }) => `引擎返回重定向（${status}），不会跟随`,
  too_large: ({ limit }) => `超过 ${limit} 字节`,
  broken_off: "响应过程中连接中断",
  ended_early: "响应提前结束",
  not_sent: ({ request }) => `${request} 未发送：操作已停止`,
  malformed: ({ request, start }) => `对 ${request} 的响应不是有效的引擎响应：${start}`,
  no_file_facts: ({ request }) => `对 ${request} 的响应没有说明该处的内容`,
  no_archive: ({ request }) => `对 ${request} 的响应不是归档`,
  archive_unreadable: ({ cause }, tell) => `无法读取引擎的归档：${tell(cause)}`,

  no_container: ({ name }) => `引擎上没有容器“${name}”`,
  no_group: ({ name }) => `引擎上没有 compose 组“${name}”`,
  no_service: ({ name, service }) => `“${name}”没有服务“${service}”`,
  networks_lost: ({ name }) => `引擎启动“${name}”失败时使它脱离了网络`,
  container_changed: ({ name }) => `生成计划之后容器“${name}”已发生变化；请重新查看计划`,
  group_changed: ({ name }) => `生成计划之后 compose 组“${name}”已发生变化；请重新查看计划`,

  pull_failed: ({ reference, answer }) => `引擎无法拉取 ${reference}：${answer}`,
  pull_malformed: ({ reference, start }) => `拉取 ${reference} 时引擎的响应无效：${start}`,
  pull_endless_line: ({ reference }) => `拉取 ${reference} 时响应中的一行没有结尾`,
  pull_silent: ({ reference }) => `拉取 ${reference} 时没有任何响应`,
  pull_without_image: ({ reference }) => `拉取 ${reference} 后没有得到镜像`,
  pulled_another: ({ digest }) => `拉取后引擎中的镜像与 ${digest} 不同`,
  snapshot_image_differs: ({ reference }) => `镜像仓库中的 ${reference} 与快照中的不是同一个镜像`,
  image_not_pulled: ({ reference }) => `镜像“${reference}”不在引擎上；请先准备计划`,
  image_used: ({ id }) => `镜像“${id}”正被容器使用，已保留`,
  image_renamed_again: ({ id }) => `镜像“${id}”不断获得新的名称`,
} satisfies Rendering<typeof english>;
