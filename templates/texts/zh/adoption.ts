import { formatNumber } from "../../format.ts";
import type { Texts } from "../texts.ts";

const number = (count: number) => formatNumber("zh", count);

export const adoption = {
  title: (connection: string) => `采用“${connection}”上运行的目标`,
  lead: (fresh: number, adopted: number) =>
    adopted === 0
      ? `找到 ${number(fresh)} 个目标`
      : `${fresh === 0 ? "" : `${number(fresh)} 个新目标，`}${number(adopted)} 个已采用`,
  explained:
    "每个目标会得到一个执行器，每个镜像会得到一个保持其变体的追踪器。数据库和 16 这样的短标签还会保持其版本线；其他镜像跟随所有稳定版本，除非您在“更改”中选择版本线。采用之前不会添加任何内容，您启动之前不会更新任何内容。",
  open: "采用目标",
  new_here: (count: number) => `这里有 ${number(count)} 个目标还没有执行器`,
  new_on: (count: number, connection: string) => `“${connection}”上有 ${number(count)} 个目标还没有执行器`,
  new_on_many: (count: number, connections: number) =>
    `${number(connections)} 个连接上共有 ${number(count)} 个目标还没有执行器`,
  show_connections: "查看连接",
  open_new: (count: number) => `采用 ${number(count)} 个目标`,
  failed: "无法列出目标",
  retry: "重试",
  refresh: "刷新",
  find: "查找名称或镜像",
  namespace: "命名空间",
  all_namespaces: "所有命名空间",
  empty_title: "没有新的目标可采用",
  empty_text: (adopted: number, ignored: number) =>
    adopted > 0
      ? `这里能更新的目标都已有执行器${ignored === 0 ? "" : "或已忽略"}。`
      : ignored > 0
        ? "这里能更新的目标都已忽略。"
        : "这里没有 Tidemark 能更新的内容。请先启动一些，再刷新。",
  show_first: (count: number) => `显示 ${number(count)} 个目标`,
  only_first: (shown: number, matching: number) =>
    `显示 ${number(matching)} 个中的前 ${number(shown)} 个。采用之后再回来处理其余的。`,
  groups: "项目",
  singles: "容器",
  target: "目标",
  running: "正在运行",
  follows: "跟随",
  newest: "最新",
  choose: (name: string) => `采用“${name}”`,
  select_none: "全不选",
  select_all: "全选",
  change: "更改",
  change_of: (name: string) => `更改“${name}”的执行器`,
  executor_name: "执行器名称",
  trigger: "更新方式",
  triggers: { manual: "手动", immediate: "立即" },
  trigger_as_below: "与下方选择相同",
  existing: "已有追踪器",
  left_alone: "保持原样",
  looking: "正在检查",
  up_to_date: "已是最新",
  versions: "版本",
  versions_of: (service: string) => `“${service}”的版本`,
  every_version: "所有稳定版本",
  new_majors: "包括新的主版本",
  only_line: (line: string) => `仅 ${line}.x`,
  line_replaced: (tag: string) => `更新会将标签 ${tag} 替换为完整版本`,
  no_version: "没有找到版本",
  moving: "此标签的新构建",
  unknown: "未知",
  over_http: "镜像仓库使用 http",
  new_trackers: (count: number) => `${number(count)} 个新追踪器`,
  trackers_title: "追踪器",
  tracker_name: "追踪器名称",
  tracker_name_of: (image: string) => `“${image}”的追踪器名称`,
  image: "镜像",
  rule: "版本",
  used_by: (count: number) => `${number(count)} 个服务`,
  takes_all: "所有版本",
  by_version: "改为跟随版本号",
  repository: "发布说明来源",
  follow_repository: (url: string) => `发布说明来自 ${url}`,
  credential_for: (registry: string) => `登录 ${registry} 使用`,
  anonymous: "不使用凭据",
  refused_title: (count: number) => `${number(count)} 个无法采用`,
  find_name: "查找名称",
  no_name_found: "没有名称与此相符的目标。",
  ignored_title: (count: number) => `${number(count)} 个已忽略`,
  ignored_text: "已忽略的目标不会再次列出。",
  unignore: "停止忽略",
  unignore_of: (name: string) => `停止忽略“${name}”`,
  unignored: (name: string) => `将再次列出“${name}”`,
  ignored_now: (count: number) => `已忽略 ${number(count)} 个目标`,
  adopt: "采用",
  ignore: "忽略所选",
  done_title: (count: number) => `已采用 ${number(count)} 个目标`,
  none_title: "没有采用任何目标",
  done_lead: (executors: number, trackers: number) =>
    `添加了 ${number(executors)} 个执行器和 ${number(trackers)} 个追踪器，首次检查即将开始。`,
  not_adopted: (count: number) => `${number(count)} 个未采用`,
  already: "此前已采用",
  added: "已添加",
  to_executors: "查看执行器",
  back: "继续采用",
} satisfies Texts["adoption"];
