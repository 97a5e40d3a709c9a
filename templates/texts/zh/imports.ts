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
  takes: "接受",
  takes_all: "所有版本号",
  found_in: "所在位置",
  sources: "来源",
  exists: (name: string) => `${name} 已在追踪`,
  invalid: "无法创建",
  skipped: (count: number) => `略过 ${number(count)} 项`,
  remarks: {
    digest_dropped: (subject: string) => `不跟随摘要 ${subject}…，只跟随标签`,
    line_pinned: (subject: string) => `原文指定了版本线 ${subject}：除非用正则限制，也会提供更新的版本线`,
    variant_kept: (subject: string) => `保持 ${subject} 的变体`,
    pattern_refused: (subject: string) => `无法使用正则 ${subject}，已略去`,
    credential_missing: (subject: string) => `原来使用 ${subject} 登录：请之后选择凭据`,
    page_source_skipped: (subject: string) => `不跟随网页 ${subject}`,
    channel_disabled: (subject: string) => `渠道 ${subject} 已停用，未导入`,
  },
} satisfies Texts["imports"];
