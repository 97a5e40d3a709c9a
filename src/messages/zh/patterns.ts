import type { patterns as english } from "../patterns.ts";
import type { Rendering } from "../types.ts";

export const patterns = {
  too_long: ({ characters, limit }) => `模式有 ${characters} 个字符，最多允许 ${limit} 个`,
  too_large: "模式的重复次数过多：请减小 {500} 之类的次数，或改用 + 或 *",
  lookaround: ({ used }) => `不支持环视（\`${used}\`…）：必须出现的内容请写入包含模式，不得出现的内容请写入排除模式`,
  lookaround_as_exclude: ({ exclude }) => `不支持环视：请将包含模式留空，并在排除模式中填写 \`${exclude}\``,
  lookaround_as_pair: ({ include, exclude }) =>
    `不支持环视：请在包含模式中填写 \`${include}\`，在排除模式中填写 \`${exclude}\``,
  back_reference: ({ used }) => `不支持反向引用 \`${used}\`：请把重复的部分完整写出`,
  syntax: ({ hint, error }, tell) => `模式不是有效的正则表达式：${tell(hint)}（${error}）`,

  possessive: "不支持原子组和占有重复，在此使用普通分组和普通的 + 效果相同",
  comments: "不支持注释和宽松排版，请去掉",
  conditions: "不支持条件，请使用多选 (a|b)",
  group: "不支持这种分组，请使用 (…)、(?:…)，或在开头使用 (?i)",
  text_end: "结尾请写作 $ 或 \\z",
  code_point: "按编号书写字符请用 \\x{…}",
  escape: "不支持此转义，反斜杠本身请写作 \\\\",
  last_backslash: "以单个反斜杠结尾，反斜杠本身请写作 \\\\",
  open_set: "请用 ] 结束 [，方括号本身请写作 \\[",
  counts: "次数范围为 0 到 1000，较小者在前",
  repeated_twice: "两个重复符号不能相连，请用括号把第二个所重复的内容括起来，例如 (?:a+){3}",
  nothing_to_repeat: "重复符号前需要有内容，星号本身请写作 \\*，任意内容请写作 .*",
  brackets: "请检查括号和转义，以下字符本身前请加反斜杠：( ) [ ] { } . * + ? | ^ $",
} satisfies Rendering<typeof english>;
