import type { snapshots as english } from "../snapshots.ts";
import type { Rendering } from "../types.ts";

export const snapshots = {
  locked: ({ reference }) => `“${reference}”的快照已锁定，请先解锁`,
  unreadable: ({ reference, cause }, tell) => `“${reference}”的快照无法使用：${tell(cause)}。请删除它，或选择其他快照`,
  in_use: ({ reference }) => `有运行可能回滚到“${reference}”的快照，请等待其结束`,
} satisfies Rendering<typeof english>;
