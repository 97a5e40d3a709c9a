import { formatNumber } from "../../format.ts";
import type { Texts } from "../en.ts";

const number = (count: number) => formatNumber("zh", count);

export const imports = {
  title: "导入追踪器",
  lead: "来自 compose 文件、镜像列表，或其他工具的配置",
  open: "导入",
  show_again: "重新读取文本",
  show: "查看将要创建的内容",
  found: (count: number) => (count === 0 ? "没有找到追踪器" : `找到 ${number(count)} 个追踪器`),
  read_as: {
    compose: "按 compose 文件读取",
    images: "按镜像列表读取",
    diun: "按 Diun 的文件读取",
    argus: "按 Argus 的配置读取",
    release_tracker: "按 ReleaseTracker 的追踪器读取",
  },
  create: "创建所选追踪器",
  created: (count: number) => `已创建 ${number(count)} 个追踪器，首次检查即将开始`,
  none_chosen: "请至少选择一个追踪器",
  choose: (name: string) => `创建 ${name}`,
  running: "正在运行",
  not_running: "未注明",
  proposed: "建议",
  takes_all: "所有版本",
  versions_instead: "改为跟随带编号的版本",
  found_in: "所在位置",
  exists: (name: string) => `${name} 已在追踪`,
  invalid: "无法创建",
  skipped: (count: number) => `略过 ${number(count)} 项`,
  remarks: {
    digest_dropped: (subject: string) => `不跟随摘要 ${subject}…，只跟随标签`,
    line_kept: (subject: string) => `保持在 ${subject} 版本线`,
    variant_kept: (subject: string) => `保持 ${subject}`,
    tag_followed: (subject: string) => `跟随标签 ${subject}：该标签下出现新镜像即为更新`,
    tag_unknown: (subject: string) => `标签取自变量 ${subject}：请在“变量”中填写其值`,
    series_unknown: (subject: string) =>
      `标签 ${subject} 会移到下一个主版本，新版本可能无法读取现有数据：请写明正在运行的版本`,
    pattern_refused: (subject: string) => `无法使用正则 ${subject}，已略去`,
    credential_missing: (subject: string) => `原来使用 ${subject} 登录：请之后选择凭据`,
    page_source_skipped: (subject: string) => `不跟随网页 ${subject}`,
    channel_disabled: (subject: string) => `渠道 ${subject} 已停用，未导入`,
  },
} satisfies Texts["imports"];
