import type { Texts } from "../en.ts";

export const auth = {
  sign_in: "登录",
  sign_in_lead: "此处由唯一的管理员值守。",
  user_name: "用户名",
  password: "密码",
  current_password: "当前密码",
  new_password: "新密码",
  repeat_password: "再次输入新密码",
} satisfies Texts["auth"];
