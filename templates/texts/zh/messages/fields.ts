import type { Catalogue } from "../../../../src/messages/catalogue.ts";
import type { Rendering } from "../../../../src/messages/types.ts";

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
  broken_text: "文本中含有半个字符，请重新输入",
} satisfies Rendering<Catalogue["fields"]>;
