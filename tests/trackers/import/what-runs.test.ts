import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ProposalView } from "../../../src/trackers/import/schema.ts";
import {
  addImage,
  type Content,
  emptyContent,
  type StandIn,
  serve,
  standIn,
  testContext,
} from "../../sources/oci/stand-in-registry.ts";
import { type TrackerHouse, trackerHouse } from "../tracker-house.ts";
import { type RunningRow, runningTable } from "./running-tables.ts";

const minute = 60_000;

/** A registry of many repositories whose images tell when they were built. */
class Registry {
  readonly repositories = new Map<string, Content>();
  readonly server: StandIn = standIn((request, url) => {
    const name = [...this.repositories.keys()].find((each) => url.pathname.startsWith(`/v2/${each}/`)) ?? "";
    return serve(this.repositories.get(name) ?? emptyContent(), name, request, url);
  });
  #builds = 0;

  /** Publishes tags, each a minute after the one before; a tag that is there moves. */
  publish(repository: string, tags: string, from: number): void {
    const content = this.repositories.get(repository) ?? emptyContent();
    this.repositories.set(repository, content);
    for (const [index, tag] of tags.split(" ").entries()) {
      this.#builds += 1;
      addImage(content, tag, { created: new Date(from + index * minute).toISOString(), build: this.#builds });
    }
  }

  digestOf(repository: string, tag: string): string {
    const body = this.repositories.get(repository)?.tags.get(tag)?.body ?? "";
    return `sha256:${new Bun.CryptoHasher("sha256").update(body).digest("hex")}`;
  }
}

const registry = new Registry();
let house: TrackerHouse;
beforeAll(async () => {
  house = await trackerHouse({
    has_real_sources: true,
    openContext: (clock) => () => ({ ...testContext(clock.now), stats: () => ({ requests: 0, bytes: 0 }) }),
  });
});
afterAll(async () => {
  await house.close();
  await registry.server.stop();
});

function nameOf({ runs }: RunningRow, row: number): { repository: string; tag: string | null } {
  const [name = "", tag = null] = runs.split(":");
  // A repository of its own for each row, of the same last part.
  return { repository: `r${row}/${name}`, tag };
}

/** What the import proposes for a service that runs it. */
async function proposalFor(row: RunningRow, index: number): Promise<ProposalView> {
  const { repository, tag } = nameOf(row, index);
  const image = `http://${registry.server.host}/${repository}${tag === null ? "" : `:${tag}`}`;
  const found = await house.trackers.proposals({ text: JSON.stringify({ services: { main: { image } } }) });
  const [proposal] = found.proposals;
  if (proposal === undefined) throw new Error(JSON.stringify(found.skipped));
  return proposal;
}

const remark = ({ remarks }: ProposalView, wanted: string) =>
  remarks.find(({ code }) => code === wanted)?.subject ?? null;

async function latestOf(name: string) {
  await house.check(name);
  const [source] = (await house.trackers.get(name)).sources;
  expect(source?.error).toBeNull();
  return source?.channels[0]?.latest ?? null;
}

describe("keeps what runs:", () => {
  test.each(runningTable.map((row, index) => [row.runs, row, index] as const))("%s", async (_runs, row, index) => {
    const { repository } = nameOf(row, index);
    registry.publish(repository, row.before, house.clock.now() - 100 * minute);
    const proposal = await proposalFor(row, index);
    expect({
      state: proposal.state,
      line: remark(proposal, "line_kept"),
      variant: remark(proposal, "variant_kept"),
    }).toEqual({
      state: "new",
      line: row.line,
      variant: row.variant,
    });
    await house.trackers.create(house.actor, proposal.tracker);
    expect((await latestOf(proposal.name))?.tag).toBe(row.proposed);
    registry.publish(repository, row.then, house.clock.now() + minute);
    await house.clock.advance(200 * minute);
    const next = await latestOf(proposal.name);
    expect(next?.tag).toBe(row.next);
    expect(next?.revision).toBe(registry.digestOf(repository, row.next));
  });
});
