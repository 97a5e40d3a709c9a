import type { fields as english } from "../fields.ts";
import type { Rendering } from "../types.ts";

export const fields = {
  text_wanted: "请填写文本",
  number_wanted: "请填写数字",
  boolean_wanted: "请选择是或否",
  list_wanted: "请填写列表",
  object_wanted: "请填写包含各字段的对象",
  number_or_text_wanted: "请填写数字或文本",
  one_of: ({ options }) => `请选择其中之一：${options.join("、")}`,
  unusable: "此处不能使用这个值",
  unknown_field: "没有这个字段",
  required: "此项必填",
  whole_number: "请填写整数",
  at_least: ({ limit }) => `不能小于 ${limit}`,
  at_most: ({ limit }) => `不能大于 ${limit}`,
  at_least_characters: ({ limit }) => `至少 ${limit} 个字符`,
  at_most_characters: ({ limit }) => `最多 ${limit} 个字符`,
  at_least_entries: ({ limit }) => (limit === 1 ? "请至少选择一项" : `至少需要 ${limit} 项`),
  at_most_entries: ({ limit }) => `最多允许 ${limit} 项`,
  time_of_day: "请按“HH:MM”填写时间，00:00 至 23:59",
  instant: "请填写日期和时间，例如“2026-11-21T03:12:09Z”",
  control_characters: "不能包含控制字符",
  pattern_too_slow: ({ pattern }) =>
    `模式“${pattern}”处理所匹配的文本耗时过长；请使用比 {250} 更小的次数，或改用 + 或 *`,
  broken_text: "文本中含有不完整的字符，请重新输入",
} satisfies Rendering<typeof english>;
