import type { MessageDictionary } from "../messages.ts";

/** 服务与表单校验给出的英文句子及其中文；`{}` 处为原文中的值，顺序保持一致。 */
export const messages: MessageDictionary = [
  ["Write a text", "请填写文本"],
  ["Write a name", "请填写名称"],
  ["Write a number", "请填写数字"],
  ["Write a whole number", "请填写整数"],
  ["Use at most {} characters", "最多 {} 个字符"],
  ["Use at least {} characters", "至少 {} 个字符"],
  ["Use no control characters", "不能包含控制字符"],
  ["The input has errors", "输入有误"],
  ["Sign in first", "请先登录"],
  ['There is no {} "{}"', "不存在 {}“{}”"],
];
