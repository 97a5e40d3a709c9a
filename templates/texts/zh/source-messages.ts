import type { MessageDictionary } from "../messages.ts";

/** 导入追踪器时给出的句子。 */
export const sourceMessages: MessageDictionary = [
  ['The image needs a value for {}: enter it under "Variables"', "镜像缺少 {} 的值：请在“变量”中填写"],
  ['This is no YAML: "{}" is there twice in one place', "这不是 YAML：“{}”在同一处出现了两次"],
  ["This is no YAML: {}", "这不是 YAML：{}"],
  [
    "It follows {}, and only a repository, a registry or a chart can be tracked",
    "它跟踪的是 {}，而只能跟踪仓库、镜像或 Chart",
  ],
  ["None of its sources has a channel that is switched on", "它的来源没有启用的通道"],
];
