import type { keys as english } from "../keys.ts";
import type { Rendering } from "../types.ts";

const inForce = {
  session: "新的会话密钥已生效，所有人都需要重新登录",
  encryption: "新的加密密钥已生效",
} as const;

const names = { session: "会话密钥", encryption: "加密密钥" } as const;

export const keys = {
  session_key_in_environment: "此密钥由环境变量 SESSION_KEY 设置；请在那里更改，然后重新启动 Tidemark",
  encryption_key_in_environment:
    "此密钥由环境变量 ENCRYPTION_KEY 设置，下次启动时又会使用它；要轮换它，请把它保存在 KEYS_FILE 指定的文件中",
  session_key_in_file: "此密钥在 KEYS_FILE 指定的文件中，Tidemark 从不写入该文件；请在那里更改，然后重新启动 Tidemark",
  encryption_key_in_file:
    "此密钥在 KEYS_FILE 指定的文件中，Tidemark 从不写入该文件；请在其中把新密钥写为“primary”，把此密钥列入“previous”，然后重新启动 Tidemark",
  remote_database: "数据库位于 libSQL 服务器上：Tidemark 无法备份它，另一个实例也可能继续用旧密钥写入",
  rotation_unfinished: "有一次轮换被中断，下次启动时会完成它；请先重新启动 Tidemark",
  rotation_in_progress: "密钥轮换正在进行，请等待它结束",
  rotation_incomplete: ({ name, cause }, tell) =>
    `${inForce[name]}，但轮换的最后一步失败（${tell(cause)}）；请排除问题后重新启动 Tidemark，它会完成轮换`,
  disk_full: "磁盘已满",
  corrupt_secret: ({ table, row, column }) =>
    `表“${table}”第“${row}”行“${column}”列中的机密无法用任何已知密钥解密；请重新填写或删除它，然后再轮换密钥`,
  corrupt_secrets: ({ count, table, row, column }) =>
    `有 ${count} 个机密无法用任何已知密钥解密，其中第一个在表“${table}”第“${row}”行“${column}”列；请逐个重新填写或删除它们，然后再轮换密钥`,

  secret_not_encrypted: "无法读取已保存的机密，它未加密",
  secret_undecryptable: "无法解密已保存的机密，其内容已损坏，或是用其他密钥加密的",
  secret_malformed: "无法读取已保存的机密，其内容格式不符合预期",
  not_a_fernet_key: "加密密钥不可用：它不是 Fernet 密钥",
  session_key_short: ({ bits, limit }) => `会话密钥有 ${bits} 位；至少需要 ${limit} 位`,
  session_key_unusable: ({ place, bytes }) =>
    `${place} 中的会话密钥不可用；它必须是至少 ${bytes} 个随机字节的 base64，如“openssl rand -base64 32”的输出`,
  encryption_key_unusable: ({ place }) =>
    `${place} 中的加密密钥不可用；它必须是 Fernet 密钥：32 个随机字节的带填充 base64url，共 44 个字符`,

  file_unreadable: ({ path }) => `无法读取密钥文件“${path}”；请让运行 Tidemark 的用户拥有它`,
  file_broken_link: ({ path }) => `密钥文件“${path}”是失效的链接；请挂载或恢复其目标`,
  file_irregular: ({ path }) => `密钥文件“${path}”不是普通文件`,
  file_open_to_others: ({ path, mode }) =>
    `密钥文件“${path}”的权限为 ${mode}，其他用户可以读取；请对其执行 chmod 600，若已泄露请轮换密钥`,
  file_too_large: ({ path, kib }) => `密钥文件“${path}”超过 ${kib} KiB`,
  file_damaged: ({ path }) => `密钥文件“${path}”已损坏或属于其他版本；请从备份恢复`,
  file_not_replaceable: ({ path }) =>
    `无法替换密钥文件“${path}”；请允许 Tidemark 写入其所在文件夹，且不要以只读方式挂载该文件夹，也不要单独挂载该文件`,
  file_missing: ({ path }) => `没有密钥文件“${path}”；请恢复它，然后重新启动 Tidemark`,
  file_changed: ({ path }) => `密钥文件“${path}”自启动后已被更改；请重新启动 Tidemark，然后再轮换密钥`,
  named_file_missing: ({ path }) => `KEYS_FILE 指定的文件“${path}”不存在；请更正路径或恢复该文件`,
  file_missing_for_data: ({ path }) =>
    `没有密钥文件“${path}”，但数据库中有加密数据；请从数据目录的备份恢复该文件，或将 ENCRYPTION_KEY 和 SESSION_KEY 设为原来的密钥`,
  key_missing_in_file: ({ path, name, variable }) =>
    `密钥文件“${path}”中没有${names[name]}；请像以前一样设置 ${variable}，或恢复完整的文件`,
  folder_open_to_others: ({ path, mode }) =>
    `数据目录“${path}”的权限为 ${mode}，其他用户可以进入；请为 Tidemark 提供专用的文件夹，或对其执行 chmod 700`,
  database_of_another_key: ({ stored, used }) =>
    `数据库用密钥 ${stored} 加密，而正在使用的密钥是 ${used}；请恢复属于此数据库的密钥文件，或更正 ENCRYPTION_KEY`,
  database_of_unknown_key: ({ used }) =>
    `数据库没有记录其机密所用的密钥，而正在使用的密钥 ${used} 无法解密其中任何一个；请恢复属于此数据库的密钥文件，或更正 ENCRYPTION_KEY`,
} satisfies Rendering<typeof english>;
