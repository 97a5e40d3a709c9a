// The real services with trackers of every kind. A message is one round: sources are made due, and the scheduler works them off
// with its own limits.
import { readFileSync } from "node:fs";
import { inArray, sql } from "drizzle-orm";
import { tracker_sources, trackers } from "../../src/db/tables.ts";
import { answerParent, costOf } from "../child.ts";
import { actor, benchServices } from "../service.ts";
import { type Addresses, configOf, countOf, hostOf, type MixedKind, mixedKinds } from "./plan.ts";

let bench: Awaited<ReturnType<typeof benchServices>> | null = null;

function opened() {
  if (bench === null) throw new Error("The services were not opened");
  return bench;
}

/** Most that was ever resident of this process, in bytes. */
function peakBytes(): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1024;
}

async function createTrackers(addresses: Addresses, sources: number): Promise<void> {
  const { services } = opened();
  const credential = await services.credentials.create(actor, {
    name: "github",
    kind: "github",
    secret: { token: `ghp_${"a1B2c3".repeat(6)}` },
  });
  for (const kind of mixedKinds)
    for (let index = 0; index < countOf(kind, sources); index += 1)
      await services.trackers.create(actor, {
        name: `${kind}-${index}`,
        sources: [
          {
            key: "source",
            kind: hostOf(kind),
            config: configOf(kind, index, addresses),
            ...(hostOf(kind) === "github" ? { credential_id: credential.id } : {}),
            channels: [{ type: "stable", include_pattern: "^v?[0-9]+\\.[0-9]+\\.[0-9]+$" }],
          },
        ],
      });
}

/** All sources, or those of one kind. */
async function round(kind: MixedKind | null) {
  const { services, db } = opened();
  const mine = db.read
    .select({ id: trackers.id })
    .from(trackers)
    .where(sql`${trackers.name} like ${`${kind ?? ""}%`}`);
  const isMine = inArray(tracker_sources.tracker_id, mine);
  await db.write((tx) => tx.update(tracker_sources).set({ next_check_at: 0 }).where(isMine));
  const cost = await costOf(async () => {
    await services.scheduler.tick();
    await services.scheduler.idle();
  });
  const [sum] = await db.read
    .select({
      sources: sql<number>`count(*)`,
      requests: sql<number>`sum(${tracker_sources.last_request_count})`,
      bytes: sql<number>`sum(${tracker_sources.last_byte_count})`,
      failed: sql<number>`sum(${tracker_sources.last_error_code} is not null)`,
      waiting: sql<number>`sum(${tracker_sources.next_check_at} = 0)`,
      error: sql<string | null>`max(${tracker_sources.last_error_message})`,
    })
    .from(tracker_sources)
    .where(isMine);
  return { ...cost, ...sum, peak_bytes: peakBytes(), resident_bytes: process.memoryUsage.rss() };
}

answerParent(async ({ act, dir, key, addresses, sources, kind }) => {
  switch (act) {
    case "open":
      bench = await benchServices({ dir: String(dir), encryption_key: String(key) });
      return { resident_bytes: process.memoryUsage.rss() };
    case "create":
      await createTrackers(addresses as Addresses, Number(sources));
      await opened().services.scheduler.idle();
      return {};
    case "align":
      await opened().db.write((tx) => tx.update(tracker_sources).set({ rotation: 0 }));
      return {};
    case "close":
      await opened().close();
      return { peak_bytes: peakBytes() };
    default:
      return await round(mixedKinds.find((name) => name === kind) ?? null);
  }
});
