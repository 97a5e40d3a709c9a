import { formatNumber } from "../../format.ts";
import type { Texts } from "../texts.ts";

const number = (count: number) => formatNumber("zh", count);

export const imports = {
  title: "导入追踪器",
  lead: "来自 compose 文件、镜像列表，或其他工具的配置",
  open: "导入",
  show_again: "刷新预览",
  show: "预览",
  found: (count: number) => (count === 0 ? "没有找到追踪器" : `找到 ${number(count)} 个追踪器`),
  read_as: {
    compose: "识别为 compose 文件",
    images: "识别为镜像列表",
    diun: "识别为 Diun 文件",
    argus: "识别为 Argus 配置",
    release_tracker: "识别为 ReleaseTracker 追踪器",
  },
  add: "添加所选追踪器",
  added: (count: number) => `已添加 ${number(count)} 个追踪器，首次检查即将开始`,
  choose: (name: string) => `添加“${name}”`,
  running: "正在运行",
  not_running: "未注明",
  proposed: "建议",
  takes_all: "所有版本",
  versions_instead: "改为跟随版本号",
  found_in: "所在位置",
  exists: (name: string) => `已由“${name}”追踪`,
  invalid: "无法添加",
  skipped: (count: number) => `跳过 ${number(count)} 项`,
  remarks: {
    digest_dropped: (subject: string) => `跟随标签，不再固定于摘要 ${subject}…`,
    line_kept: (subject: string) => `保持在 ${subject} 版本线`,
    variant_kept: (subject: string) => `保持 ${subject}`,
    tag_followed: (subject: string) => `跟随标签 ${subject}：该标签下出现新镜像即为更新`,
    tag_unknown: (subject: string) => `标签取自变量 ${subject}：请在“变量”中填写其值`,
    series_unknown: (subject: string) =>
      `标签 ${subject} 会移到下一个主版本，新版本可能无法读取现有数据：请填写正在运行的版本`,
    pattern_refused: (subject: string) => `不支持模式 ${subject}，已忽略`,
    credential_missing: (subject: string) => `原先使用 ${subject} 登录：添加后请选择凭据`,
    page_source_skipped: (subject: string) => `不追踪网页 ${subject}`,
    channel_disabled: (subject: string) => `通道 ${subject} 已停用，已跳过`,
  },
} satisfies Texts["imports"];
