import type { Catalogue } from "../catalogue.ts";
import type { Rendering } from "../types.ts";

export const request = {
  input_errors: "输入有误",
  sign_in_first: "请先登录",
  change_password_first: "请先修改初始密码",
  internal_error: "Tidemark 内部出现错误，详情见日志中对应的请求 ID",
  stopping: "Tidemark 正在停止，没有作任何更改；请稍后重试",
  not_found: ({ what, id }, tell) => `不存在${tell(what)}“${id}”`,
  unusable_host: "请求中没有可用的主机名；请发送 Host 标头",
  body_too_large: ({ mib }) => `请求体超过 ${mib} MiB`,
  body_not_form: "请求体不是表单",
  body_not_declared_form: "请求体不是其内容类型所声明的表单",
  body_not_utf8: "请求体不是 UTF-8",
  body_not_json: "请求体不是 JSON",
  body_too_deep: ({ levels }) => `请求体的嵌套超过 ${levels} 层`,
  too_many_fields: ({ limit }) => `表单的字段超过 ${limit} 个`,
  foreign_origin: "请求并非来自此地址的页面，请通过基础地址打开 Tidemark 后重试",
  form_outdated: "表单已过期，请刷新页面后重新提交",
  method_unknown: ({ method }) => `不支持方法“${method}”`,
  method_not_allowed: ({ allowed, method }) => `此路径接受 ${allowed.join("、")}，不接受 ${method}`,
  too_many_sign_ins: "通过身份提供方登录的次数过多，请稍后重试",
  idempotency_key_invalid: "请发送一个由 1 至 255 个可见 ASCII 字符组成的 Idempotency-Key",
  idempotency_in_progress: "使用此 Idempotency-Key 的请求正在处理；请重新发送以获取结果",
  idempotency_reused: "此 Idempotency-Key 已用于另一个请求；每个请求请使用新的键",
  idempotency_answer_lost: "使用此 Idempotency-Key 的请求已执行，但其应答已不可用；请查看当前状态",
} satisfies Rendering<Catalogue["request"]>;
