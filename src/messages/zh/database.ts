import type { database as english } from "../database.ts";
import type { Rendering } from "../types.ts";

export const restoreCommand =
  "“bun run restore FOLDER”（在容器中则为“docker compose run --rm tidemark bun run restore FOLDER”）";

const restore = `请恢复备份：停止服务，用备份文件夹中的某个文件夹或您自己的文件夹运行${restoreCommand}，然后重新启动`;
const signs = { key_file: "密钥文件仍在", given: "环境中给出了其密钥" } as const;
const fresh = {
  key_file: "要从头开始，请先移走密钥文件",
  given: "要从头开始，请先移走“tidemark.lock”和数据库的遗留文件",
} as const;

export const database = {
  missing: ({ path, keys }) => `缺少数据库“${path}”，但${signs[keys]}。${restore}。${fresh[keys]}`,
  not_a_file: ({ path }) => `数据库“${path}”不是文件；请更正 DATABASE_URL`,
  blank_file: ({ path, keys }) => `数据库“${path}”为空（0 字节），但${signs[keys]}。${restore}。${fresh[keys]}`,
  not_a_database: ({ path }) => `文件“${path}”不是数据库。${restore}`,
  cut_off: ({ path, found, wanted }) => `数据库“${path}”不完整：${wanted} 字节中只有 ${found} 字节。${restore}`,
  emptied: ({ path, keys }) => `数据库“${path}”为空，但${signs[keys]}。${restore}`,
  server_unusable: ({ cause }, tell) =>
    `数据库服务器无法使用（${tell(cause)}）；请更正 DATABASE_URL 和 DATABASE_AUTH_TOKEN，或检查服务器`,
  locked: ({ path }) => `数据库“${path}”已被其他程序锁定；请先关闭该程序（例如数据库浏览器或备份工具），然后重新启动`,
  disk_full: ({ path }) => `数据库“${path}”所在磁盘已满；请释放空间后重新启动`,
  url_unusable: ({ cause }, tell) => `DATABASE_URL 不可用（${tell(cause)}）；请更正`,
  unreadable: ({ path, cause }, tell) => `无法读取数据库“${path}”（${tell(cause)}）。${restore}`,
  damaged: ({ path, problem }) => `数据库“${path}”已损坏（${problem}）。${restore}`,
  without_foreign_keys: "数据库没有强制外键",
  without_wal: ({ path }) => `数据库“${path}”不在 WAL 模式`,
  without_synchronous: ({ path }) => `数据库“${path}”提交时没有等待磁盘`,
  of_newer_version: ({ applied, known }) =>
    `数据库有 ${applied} 个迁移，而此版本的 Tidemark 只知道 ${known} 个：它由更新的版本写入。请启动该版本，或恢复升级前制作的备份`,

  object_missing: ({ object }) => `缺少 ${object}`,
  object_changed: ({ object }) => `${object} 的定义不同`,
  object_foreign: ({ object }) => `${object} 不属于 Tidemark`,

  lock_unusable: ({ path, cause }, tell) => `锁文件“${path}”无法使用（${tell(cause)}）；请检查该位置的内容并将其移走`,
  data_directory_in_use: ({ path }) =>
    `另一个 Tidemark 已在数据目录“${path}”上运行；请先停止它，或为此实例指定另一个 DATA_DIR`,
} satisfies Rendering<typeof english>;
