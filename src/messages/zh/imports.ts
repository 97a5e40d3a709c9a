import type { imports as english } from "../imports.ts";
import type { Rendering } from "../types.ts";

export const imports = {
  text_wanted: "请粘贴 compose 文件、镜像引用列表，或 Diun、Argus、ReleaseTracker 的配置",
  no_compose_file: "这不是 compose 文件：需要带有镜像的“services”",
  no_diun_file: "这不是 Diun 的文件：需要由带“name”的条目组成的列表",
  no_argus_file: "这不是 Argus 的配置：需要“service”，且每个都有“latest_version”",
  no_release_tracker_file: "这不是 ReleaseTracker 的导出文件：需要带“sources”的追踪器",
  no_yaml: ({ reason, line, column }) => `无法按 YAML 解析：第 ${line} 行第 ${column} 列：${reason}`,
  key_twice: ({ key }) => `无法按 YAML 解析：“${key}”在同一处出现了两次`,
  too_many_aliases: "无法使用此 YAML：其别名会使内容过度膨胀",
  too_large: ({ limit }) => `内容过大或嵌套过深，不像是配置；最多读取 ${limit} 个值`,

  built: "在本地构建，没有镜像仓库",
  no_image: "没有镜像",
  label_off: "标签将其排除在追踪之外",
  value_wanted: ({ variables }) => `镜像缺少 ${variables.join("、")} 的值；请在“变量”中填写`,
  web_page: ({ url }) => `它追踪的是${url === null ? "网页" : ` ${url}`}；只能追踪仓库、镜像仓库或 Chart`,
  no_channel: "它的来源没有启用的通道",
  too_many: ({ limit }) => `一次最多导入 ${limit} 个追踪器`,
  none_chosen: "请至少选择一个追踪器",
} satisfies Rendering<typeof english>;
