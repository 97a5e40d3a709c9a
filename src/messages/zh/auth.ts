import type { auth as english } from "../auth.ts";
import type { Rendering } from "../types.ts";

const restore = "请停止服务，从可信的备份恢复数据库，然后重新启动；Tidemark 不会另建管理员";

export const auth = {
  wrong_credentials: "用户名或密码错误",
  wrong_password: "密码错误",
  too_many_attempts: ({ seconds }) => `失败次数过多，请在 ${seconds} 秒后重试`,
  too_many_checks: "正在核对的密码过多，请稍后重试",
  session_required: "API 令牌不能更改账户或其令牌，请用密码登录",
  too_many_tokens: ({ limit }) => `API 令牌已达上限 ${limit} 个，请先撤销一个`,
  username_form: "必须以字母或数字开头，其后可使用字母、数字和 . _ @ + -",

  password_unchanged: "新密码与原密码相同，请另选一个",
  password_changed_meanwhile: "密码已在此期间被修改，请重新登录",
  password_too_many_bytes: ({ limit }) => `密码超过 ${limit} 字节的上限`,
  password_broken: "密码含有损坏的字符，请重新输入",
  password_byte_order_mark: "密码含有看不见的字节顺序标记；请手动输入，或将文件另存为不带该标记的格式",
  password_too_short: ({ characters, limit }) => `密码有 ${characters} 个字符，至少需要 ${limit} 个`,
  password_too_long: ({ characters, limit }) => `密码有 ${characters} 个字符，最多允许 ${limit} 个`,
  password_guessable: "这个密码很容易被猜中，请另选一个",

  administrator_doubled: `数据库中有不止一个管理员记录。${restore}`,
  administrator_missing: `数据库中缺少管理员记录。${restore}`,
  administrator_other: ({ id, stored }) =>
    `管理员记录的 ID 为 ${id}，而保存的管理员标识${stored === null ? "缺失" : `为 ${stored}`}。${restore}`,
  administrator_not_created: "还没有管理员：请先启动一次 Tidemark，它会创建管理员并把密码写入日志",
} satisfies Rendering<typeof english>;
