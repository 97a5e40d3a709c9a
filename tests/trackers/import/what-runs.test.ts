import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { notDeferred } from "../../../src/executors/deferral-schema.ts";
import { planUpdate } from "../../../src/executors/update-plan.ts";
import { say } from "../../../src/messages/message.ts";
import type { ProposalView } from "../../../src/trackers/import/schema.ts";
import { find, parsePattern } from "../../../src/versions/pattern.ts";
import { keptOf } from "../../../src/versions/running-tag.ts";
import {
  addImage,
  type Content,
  emptyContent,
  type StandIn,
  serve,
  standIn,
  testContext,
} from "../../sources/oci/stand-in-registry.ts";
import { FakeEngine, fakeSession } from "../../support/fake-runtime.ts";
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

/** What an automatic run would do with a container of the tag: the tag that it goes to, null where it goes nowhere. */
async function automaticStep(name: string, repository: string, running: { tag: string; digest: string }) {
  const [source] = (await house.trackers.get(name)).sources;
  const engine = new FakeEngine();
  engine.add("main", `${registry.server.host}/${repository}:${running.tag}`, running.digest);
  const binding = { service: "main", tracker: name, tracker_id: "t", source: "image", source_id: source?.id ?? "" };
  const planned = await planUpdate(
    {
      read: house.db.read,
      releases: house.trackers,
      openLogin: () => Promise.reject(new Error("No login here")),
      connections: {
        registryLogin: async () => null,
        targetKind: () => {
          throw new Error("No run left anything down");
        },
      },
    },
    {
      ...notDeferred,
      id: "e",
      name: "main",
      is_enabled: true,
      connection_id: "c",
      target: {
        kind: "container",
        title: "Container",
        title_data: say("engine.container"),
        id: "main",
        is_group: false,
        is_declarative: false,
        artifact: "image",
      },
      bindings: [
        { ...binding, source_kind: "oci", credential_id: null, channel: source?.channels[0]?.type ?? "stable" },
      ],
      trigger: "immediate",
      window: null,
      image_selection: "keep_name",
      reference_mode: "tag",
      health_check: { strategy: "disabled" },
      restore_on_failure: true,
      // Whatever an administrator allows of downgrades, it is no leave to go to another line.
      allow_downgrade: false,
      minimum_age_hours: 0,
      requires_approval: false,
      approval_hours: 72,
      start_first: false,
      drain_seconds: 10,
      accepted_unknown_settings: [],
    },
    fakeSession(engine),
    { is_automatic: true, is_reviewed: false },
  );
  const tag = planned.services[0]?.desired?.tag ?? null;
  return { goes_to: planned.unmet === null ? tag : null, unmet: planned.unmet?.code ?? null, wanted: tag };
}

describe("keeps what runs:", () => {
  test.each(runningTable.map((row, index) => [row.runs, row, index] as const))("%s", async (_runs, row, index) => {
    const { repository, tag } = nameOf(row, index);
    const digestOf = (of: string) => registry.digestOf(repository, of);
    registry.publish(repository, row.before, house.clock.now() - 100 * minute);
    const original = { tag: tag ?? "latest", digest: digestOf(tag ?? "latest") };
    const proposal = await proposalFor(row, index);
    const kept = { line: remark(proposal, "line_kept"), variant: remark(proposal, "variant_kept") };
    expect({ state: proposal.state, ...kept }).toEqual({ state: "new", line: row.line, variant: row.variant });
    await house.trackers.create(house.actor, proposal.tracker);
    expect((await latestOf(proposal.name))?.tag).toBe(row.proposed);
    // From the tag that runs to what is proposed, and from there to the next.
    const first = await automaticStep(proposal.name, repository, original);
    expect([first.goes_to, first.unmet]).toEqual(
      row.proposed === original.tag ? [null, "already_current"] : [row.proposed, null],
    );
    const installed = { tag: row.proposed, digest: digestOf(row.proposed) };
    registry.publish(repository, row.then, house.clock.now() + minute);
    await house.clock.advance(200 * minute);
    const next = await latestOf(proposal.name);
    expect([next?.tag, next?.revision]).toEqual([row.next, digestOf(row.next)]);
    for (const from of [installed, original]) {
      const step = await automaticStep(proposal.name, repository, from);
      const isThere = installed.digest === digestOf(row.next);
      expect([step.goes_to, step.unmet]).toEqual(isThere ? [null, "already_current"] : [row.next, null]);
    }
    await staysWithoutPattern(row, index, [original, installed]);
  });
});

/** A tracker of every tag of the repository, in both sortings: its latest is somebody else's, and no automatic run goes there. */
async function staysWithoutPattern(
  row: RunningRow,
  index: number,
  running: readonly { tag: string; digest: string }[],
): Promise<void> {
  const { repository } = nameOf(row, index);
  const name = `every-${index}`;
  const config = { image: `http://${registry.server.host}/${repository}` };
  const source = { key: "image", kind: "oci", config, channels: [{ type: "stable" }] };
  await house.create(name, { fetch_depth: 100 }, [source]);
  await house.check(name);
  for (const sorting of ["publish_time", "semantic"]) {
    await house.trackers.update(house.actor, name, { sorting });
    for (const from of running) {
      const { goes_to } = await automaticStep(name, repository, from);
      if (goes_to === null || goes_to === from.tag) continue;
      const { include_pattern, versions_pattern } = keptOf(from.tag, repository);
      const isKept = [include_pattern, versions_pattern ?? include_pattern].some(
        (pattern) => find(parsePattern(pattern), goes_to) !== null,
      );
      expect([sorting, from.tag, goes_to, isKept]).toEqual([sorting, from.tag, goes_to, true]);
    }
  }
}
