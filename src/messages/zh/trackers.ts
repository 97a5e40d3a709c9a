import type { trackers as english } from "../trackers.ts";
import type { Rendering } from "../types.ts";

export const trackers = {
  name_form: "只能使用字母、数字、点、连字符和下划线，并以字母或数字开头",
  name_new: "名称“new”已被添加追踪器的页面占用",
  name_import: "名称“import”已被导入追踪器的页面占用",
  name_kept: ({ name }) => `追踪器的名称不能修改，此追踪器为“${name}”`,
  sources_wanted: "请至少添加一个来源",
  source_key_form: "只能使用小写字母、数字和连字符，例如“docker-hub”",
  source_key_taken: ({ key }) => `此追踪器中已有来源“${key}”`,
  source_kind_kept: ({ key, kind }) => `来源“${key}”的类型为 ${kind}；要更改类型，请用其他标识添加来源`,
  channels_wanted: "请至少添加一个发布通道",
  channel_name_form: "只能使用小写字母、数字、点和连字符，并以字母或数字开头，例如“16”或“lts”",
  channel_name_of_type: ({ type }) => `只有 ${type} 类型的通道可以命名为“${type}”，请另取名称`,
  channel_name_taken: ({ name }) => `此来源中已有发布通道“${name}”，请另取名称`,
  channel_in_use: ({ channel, source, users }, tell) =>
    `来源“${source}”的发布通道“${channel}”正被${users.map(tell).join("、")}使用`,
  credential_id_invalid: "这不是凭据的 ID",
  tag_wanted: "请填写标签",
  check_unfinished: ({ name }) => `“${name}”的检查尚未结束，结果会显示在追踪器的页面上`,
} satisfies Rendering<typeof english>;
