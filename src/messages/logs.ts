import type { Area, Message } from "./types.ts";

/** Reading what the containers of a target write. */
export const logs = {
  unsupported: ({ kind }: { kind: string }) => `Tidemark cannot read logs over a connection of type "${kind}"`,
  driver_unreadable: ({ driver }: { driver: string }) =>
    `The container uses the log driver "${driver}", whose logs the engine cannot read`,
  too_slow: ({ seconds }: { seconds: number }) => `The log was not returned within ${seconds} seconds`,
  starting: "The container is starting",
  too_many: ({ limit }: { limit: number }) => `${limit} log views are already open; close one of them and try again`,
  too_many_own: ({ limit }: { limit: number }) => `You have ${limit} log views open; close one of them and try again`,
  ended_by_time: ({ minutes }: { minutes: number }) => `A log view ends after ${minutes} minutes`,
  ended_by_cut: ({ name }: { name: string }) => `The log of "${name}" can no longer be read although it is running`,
  ended_by_target: "The target no longer exists",
  ended_by_runtime: ({ cause }: { cause: Message }, tell) => `The containers can no longer be listed: ${tell(cause)}`,
} satisfies Area;
