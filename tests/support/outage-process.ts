// A process that notes a failure or an answer, several times if asked, and dies by `kill -9` at a chosen moment. Its one argument is JSON: see
// `Arguments`.
import * as v from "valibot";
import { type Clock, systemClock } from "../../src/clock.ts";
import { type Database, openDatabase } from "../../src/db/client.ts";
import { say, toldAs } from "../../src/messages/message.ts";
import type { Outage } from "../../src/notifications/outage-schema.ts";
import { outageNotices } from "../../src/notifications/outages.ts";
import { createOutbox } from "../../src/notifications/outbox.ts";
import { groundOn } from "./ground.ts";

const Arguments = v.object({
  database_url: v.string(),
  /** What it notes in each of its writes. */
  notes: v.picklist(["failing", "over"]),
  times: v.number(),
  dies: v.picklist(["before the commit", "after the commit", "never"]),
});
export type OutageProcessArguments = v.InferInput<typeof Arguments>;

const subject = { cause: "connection", subject: "home" } as const;
const outage: Outage = {
  ...{ cause: "connection", connection: "Home", connection_id: "home", since: 0, code: "unreachable" },
  ...{ ...toldAs("reason", say("connections.not_checked")), executor_count: 1, executors: ["web"] },
};

/** Notices as the product composes them, whose deliveries are stored and not sent. */
export function openNotices(db: Database, clock: Clock) {
  const { counted, log } = groundOn(db, clock);
  const { recordEvent } = createOutbox({
    ...{ db, clock, counted, log, instance_id: "here", baseUrl: () => "", excerpt: (text) => text },
    send: () => Promise.reject(new Error("Nothing is sent here")),
    explainByClock: (reason) => reason,
    onDue: () => undefined,
    onBlocked: async () => undefined,
    approvalLink: () => null,
  });
  const notices = outageNotices({ clock, counted, recordEvent });
  return {
    failing: (then: () => void = () => undefined) =>
      db.write(async (tx) => {
        const isWaiting = await notices.failing(tx, subject, async () => outage);
        then();
        return isWaiting;
      }),
    over: (then: () => void = () => undefined) =>
      db.write(async (tx) => {
        await notices.over(tx, subject);
        then();
      }),
  };
}

if (import.meta.main) {
  const { database_url, notes, times, dies } = v.parse(Arguments, JSON.parse(process.argv[2] ?? ""));
  const die = (moment: typeof dies) => {
    if (moment === dies) process.kill(process.pid, "SIGKILL");
  };
  const notices = openNotices(await openDatabase({ url: database_url }), systemClock);
  for (let time = 0; time < times; time += 1) {
    await notices[notes](() => die("before the commit"));
    die("after the commit");
  }
}
