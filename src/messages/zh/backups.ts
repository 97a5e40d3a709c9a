import type { backups as english } from "../backups.ts";
import type { Rendering } from "../types.ts";
import { restoreCommand } from "./database.ts";

export const backups = {
  remote_database: "数据库位于 libSQL 服务器上；请使用该服务器自身的备份",
  in_progress: "备份正在进行，请等待它结束",
  too_many: ({ limit }) => `备份已达上限 ${limit} 个；请将一些移到别处或删除`,
  folder_not_created: ({ path, cause }, tell) =>
    `无法创建文件夹“${path}”（${tell(cause)}）。如果它是链接，请挂载或更正其目标`,
  keys_kept_changing: "每次复制数据库期间密钥都发生了变化；请重试",
  copy_failed: ({ cause }, tell) => `无法复制数据库：${tell(cause)}`,
  copy_damaged: ({ problem }) => `数据库的副本已损坏：${problem}`,

  not_found: ({ source }) => `没有备份“${source}”`,
  folder_without_database: ({ source, name }) => `文件夹“${source}”中没有“${name}”：它不是 Tidemark 的备份`,
  not_a_tidemark_database: ({ source }) => `文件“${source}”不是 Tidemark 的数据库`,
  database_in_use: ({ source }) => `“${source}”是正在使用的数据库；请指定一个备份`,
  unreadable: ({ source, cause }, tell) => `无法读取备份“${source}”（${tell(cause)}）`,
  of_newer_version: ({ source, applied, known }) =>
    `备份“${source}”有 ${applied} 个迁移，而此版本的 Tidemark 只知道 ${known} 个：它由更新的版本制作，请用该版本恢复`,
  without_keys: ({ path }) =>
    `没有此备份的密钥：备份中没有，也没有密钥文件“${path}”；请把属于它的“keys.json”放到其数据库旁，或设置 ENCRYPTION_KEY 和 SESSION_KEY`,
  secret_unreadable: ({ source, table, row, column }) =>
    `备份“${source}”中表“${table}”第 ${row} 行“${column}”列的机密无法用其密钥解密。请选择另一个备份，或加上 --accept-unreadable-secrets，并在恢复后重新填写这些机密`,

  damaged: ({ problem }, tell) => `${tell(problem)}。请选择另一个备份`,
  manifest_unreadable: ({ path }) => `无法读取清单“${path}”`,
  manifest_incomplete: ({ path, name }) => `清单“${path}”中没有“${name}”的校验和`,
  checksum_wrong: ({ path, manifest }) => `文件“${path}”已损坏：其校验和与“${manifest}”不符`,
  size_wrong: ({ path, manifest, found, wanted }) =>
    `文件“${path}”已损坏：它有 ${found} 字节，而“${manifest}”中为 ${wanted} 字节`,
  incomplete: ({ source, name }) => `备份“${source}”不完整：缺少“${name}”`,
  surplus_file: ({ source, path }) => `文件“${path}”不属于备份“${source}”`,
  database_damaged: ({ source, problem }) => `备份“${source}”已损坏：${problem}`,
  schema_wrong: ({ source, difference }, tell) =>
    `备份“${source}”的结构与制作它的 Tidemark 版本所创建的不符：${tell(difference)}`,
  reference_missing: ({ source, table, parent }) =>
    `备份“${source}”已损坏：表“${table}”中有一行引用了“${parent}”中不存在的行`,
  without_administrator: ({ source }) => `备份“${source}”中没有管理员`,

  nothing_restored: ({ cause }, tell) => `没有恢复任何内容。${tell(cause)}`,
  not_restored_former_unfinished: ({ source, cause, former }, tell) =>
    `“${source}”未能恢复。${tell(cause)}。${tell(former)}`,
  not_restored_former_complete: ({ source, cause, former, at }, tell) =>
    `“${source}”未能恢复。${tell(cause)}。始于 ${at} 的“${former}”的恢复现已完成`,
  no_room_to_restore: "磁盘上没有空间存放恢复的文件；请释放空间，然后再次运行",
  correct_and_repeat: ({ cause }, tell) => `${tell(cause)}。请排除问题，然后再次运行`,
  unfinished: ({ problem, undo }, tell) =>
    `${tell(problem)}。请排除问题后重新启动，或运行${restoreCommand}：使用同一个备份会完成恢复，使用${tell(undo)}会撤销恢复`,
  restore_incomplete: ({ source, at, cause }, tell) => `“${source}”的恢复始于 ${at}，尚未完成：${tell(cause)}`,
  restore_note_unreadable: ({ path }) => `有一次恢复已开始但尚未完成，且无法读取其记录“${path}”`,
  staged_missing: ({ path }) => `缺少“${path}”`,
  staged_changed: ({ path }) => `“${path}”已被更改`,
  staged_missing_other_placed: ({ path, place }) => `缺少“${path}”，而“${place}”是另一个文件`,
  undo_another: "另一个备份",
  undo_folder: ({ path }) => `“${path}”`,
  undo_newest: "备份文件夹中最新的“replaced”备份",
  restore_pending: "有一次恢复已开始但尚未完成；请先启动 Tidemark 或再次运行恢复",
  broken_link: ({ path }) => `“${path}”是失效的链接；请挂载或更正其目标`,
} satisfies Rendering<typeof english>;
