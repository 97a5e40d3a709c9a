import type { executors as english } from "../executors.ts";
import type { Rendering } from "../types.ts";
import { quotedList } from "./lists.ts";

const current = (tag: string | null) => (tag === null ? "当前运行的版本" : `“${tag}”`);
const desired = (tag: string | null) => (tag === null ? "期望的版本" : `“${tag}”`);

export const executors = {
  target_kind_wanted: ({ connection, kinds }) => `连接“${connection}”只有这些类型的目标：${kinds.join("、")}`,
  target_missing: ({ target }) => `连接上没有目标“${target}”；请启动它，或编辑执行器另选目标`,
  target_refused: ({ cause }, tell) => `目标无法更新：${tell(cause)}`,
  no_release_status: "只有 Helm 发布才有发布状态：请选择其他策略",
  unreviewed: ({ cause }, tell) => `目标要在您批准计划之后才会更新：${tell(cause)}`,
  service_missing: ({ target, service }) => `“${target}”没有服务“${service}”`,
  of_service: ({ service, said }, tell) => `服务“${service}”：${tell(said)}`,
  no_release: ({ tracker, source, channel }) => `通道“${tracker}, ${source}, ${channel}”还没有发布版本`,
  too_young: ({ tracker, source, channel, hours }) =>
    `通道“${tracker}, ${source}, ${channel}”还没有满 ${hours} 小时的版本`,
  no_image: ({ tracker, source }) => `来源“${source}”（追踪器“${tracker}”）没有镜像`,
  no_chart: ({ tracker, source }) => `来源“${source}”（追踪器“${tracker}”）没有 Chart`,
  other_chart: ({ target, chart, tracker, watched }) =>
    `“${target}”使用 Chart“${chart}”，而追踪器“${tracker}”追踪的是“${watched}”`,
  runs_by_digest: ({ image }) => `“${image}”按摘要运行，标签的写法未知：请先用标签运行一次`,
  tag_not_formed: ({ version, tag }) => `“${version}”无法按“${tag}”的写法写成标签`,
  tag_not_found: ({ image, tags }) => `镜像仓库中还没有标签${quotedList(tags, "或")}（镜像“${image}”）`,
  registry_failed: ({ image, tag, cause }, tell) => `未能向“${image}”所在的镜像仓库查询标签“${tag}”：${tell(cause)}`,
  registry_needs_login: ({ image, tag, cause }, tell) =>
    `未登录，无法向“${image}”所在的镜像仓库查询标签“${tag}”：${tell(cause)}。请为该仓库添加带凭据的来源，或在连接的凭据中填写用户名和密码`,
  registry_needs_http: ({ image, tag, cause }, tell) =>
    `无法通过 https 向“${image}”所在的镜像仓库查询标签“${tag}”：${tell(cause)}。如果该仓库使用明文 HTTP，请添加地址以 http:// 开头的来源，或将其加入引擎的 insecure-registries`,
  running_build_unknown: ({ target, tag }) =>
    `“${target}”运行的标签与期望的“${tag}”相同，但运行中镜像的摘要未知，无法判断是否为最新构建`,
  desired_build_unknown: ({ target, tag }) =>
    `“${target}”运行的标签与期望的“${tag}”相同，但最新构建的摘要未知，无法判断运行中的是否为最新构建`,
  already_current: "已在运行期望的版本",
  on_hold: "自动更新已暂停",
  snoozed: "自动更新已推迟",
  version_skipped: "已跳过此版本",
  settings_unknown: ({ cause }, tell) => `目标只能手动更新或经批准后更新：${tell(cause)}`,
  other_line: ({ from, to }) =>
    `${desired(to)}离开了${current(from)}的版本线；请查看计划后手动运行（通过 API 时附上其哈希）`,
  other_variant: ({ from, to }) =>
    `${desired(to)}与${current(from)}不是同一变体；请查看计划后手动运行（通过 API 时附上其哈希）`,
  downgrade: ({ from, to }) =>
    `${desired(to)}低于${current(from)}；请允许降级，或查看计划后手动运行（通过 API 时附上其哈希）`,
  incomparable: ({ from, to }) =>
    `${desired(to)}与${current(from)}无法比较；请允许降级，或查看计划后手动运行（通过 API 时附上其哈希）`,
  connection_disabled: ({ connection }) => `连接“${connection}”已停用`,

  binding_missing: "请至少绑定一个服务",
  bound_twice: ({ service }) => `服务“${service}”已在上方绑定`,
  no_such_service: ({ target, service, services }) =>
    `“${target}”没有服务“${service}”；它的服务有 ${services.join("、")}`,
  no_such_source: ({ tracker, source }) => `追踪器“${tracker}”没有来源“${source}”`,
  no_such_channel: ({ source, channels }) => `来源“${source}”的通道为 ${channels.join("、")}`,
  imageless_source: ({ tracker, source }) =>
    `来源“${source}”（追踪器“${tracker}”）没有镜像：请选择“替换当前镜像的标签”`,
  day_twice: "每一天只能选择一次",
  window_missing: "请为维护窗口选择日期和时间",
  target_taken: ({ target, executor }) => `“${target}”已属于执行器“${executor}”`,
  target_in_group: ({ target, group, executor }) => `“${target}”属于“${group}”，执行器“${executor}”会整体更新该组`,
  container_has_executor: ({ container, group, executor }) =>
    `容器“${container}”（属于“${group}”）已有自己的执行器“${executor}”`,
  id_for_name: ({ name }) => `请填写容器的名称“${name}”，而不是其 ID`,
  snooze_length: "请填写推迟的小时数或截止时间，二者只填一个",
  snooze_past: "请填写将来的时间",
  snooze_too_long: "更新最多可推迟一年；如需更久，请改为暂停更新",
  other_version: ({ executor }) => `已发现“${executor}”的另一个版本，请先查看`,
  not_dismissible: "这次运行无法忽略：它不是最近一次运行，或旧版本没有在运行",
  in_progress: () => "有一次运行正在进行，请等待其结束",
  still_down: () => "有一次运行使目标停机，正在尝试启动它；请先停用该执行器",
  still_clearing: () => "有一次运行尚有容器需要移除；请稍后再试，或先停用该连接",
} satisfies Rendering<typeof english>;
