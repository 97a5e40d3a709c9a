import type { files as english } from "../files.ts";
import type { Rendering } from "../types.ts";

export const files = {
  no_room_for_database: "数据库所在磁盘已满；请释放空间后重试",
  no_room_for_keys: "磁盘上没有空间存放密钥文件；请释放空间后重试",
  no_room_for_backup: "磁盘上没有空间存放备份；请释放空间后重试",
  no_room_for_database_copy: "磁盘上没有空间存放数据库的副本；请释放空间后重试",
  no_room_for_data: ({ path }) => `磁盘上没有空间存放数据目录“${path}”；请释放空间后重新启动`,
  no_room_to_verify: ({ path }) =>
    `磁盘上没有空间在“${path}”中存放备份的副本；请在那里释放空间，或将 TMPDIR 设为其他文件夹`,

  data_directory: ({ path }) => `数据目录“${path}”`,
  database_folder: ({ path }) => `数据库所在文件夹“${path}”`,
  folder_on_full_disk: ({ folder }, tell) => `${tell(folder)}所在磁盘已满；请释放空间后重新启动`,
  folder_read_only: ({ folder, variable }, tell) =>
    `${tell(folder)}是只读的；请以可写方式挂载，或将 ${variable} 设为其他文件夹`,
  folder_forbidden: ({ folder, variable }, tell) =>
    `${tell(folder)}不允许 Tidemark 写入；请让运行 Tidemark 的用户拥有它，或更正 ${variable}`,
  folder_not_one: ({ folder, variable }, tell) =>
    `${tell(folder)}不是文件夹：该位置是一个文件或失效的链接；请更正 ${variable}`,
  folder_missing: ({ folder, variable }, tell) => `${tell(folder)}不存在；请创建它，或更正 ${variable}`,
  folder_unusable: ({ folder, variable, cause }, tell) =>
    `${tell(folder)}无法使用（${tell(cause)}）；请更正 ${variable}`,
} satisfies Rendering<typeof english>;
