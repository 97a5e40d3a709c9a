import { afterEach, beforeEach, expect, test } from "bun:test";
import { adoptionService } from "../../src/adoption/service.ts";
import { systemActor } from "../../src/auth/schema.ts";
import { systemClock } from "../../src/clock.ts";
import { countedTime } from "../../src/counted-time.ts";
import { createHttp } from "../../src/net/http.ts";
import { createRateLedger } from "../../src/net/rate-ledger.ts";
import { answerStore, rateStore } from "../../src/trackers/upstreams/stored-responses.ts";
import { addTag, type HubRepository, hubRepository } from "../sources/github/hub-content.ts";
import { type StandInGithub, startGithub } from "../sources/github/stand-in-github.ts";
import { addImage, emptyContent, type StandIn, serve, standIn } from "../sources/oci/stand-in-registry.ts";
import { FakeEngine, fakeRuntimes } from "../support/fake-runtime.ts";
import { codesIn } from "../support/meaning.ts";
import { type RunParts, runParts } from "../support/run-parts.ts";
import { type TrackerHouse, trackerHouse } from "../trackers/tracker-house.ts";

const live = new AbortController().signal;
const token = "ghp_tokencanary1";

let house: TrackerHouse;
let hub: StandInGithub;
let repository: HubRepository;
let registry: StandIn;
let parts: RunParts;
let adoption: ReturnType<typeof adoptionService>;
let connection: string;
let stopHttp: () => void;

/** What runs here is `registry.test/acme/app`, whose label names a private repository; both are on loopback. */
beforeEach(async () => {
  const content = emptyContent();
  const [digest] = ["1.0.0", "1.1.0"].map((tag) => addImage(content, tag, { created: "2026-01-04T08:00:00Z", tag }));
  registry = standIn((request, url) => serve(content, "acme/app", request, url));
  const standsFor = (url: URL): URL => {
    if (url.host === "registry.test") return new URL(`${registry.url}${url.pathname}${url.search}`);
    if (url.host === "github.com") return new URL(`${hub.url}${url.pathname}${url.search}`);
    if (url.host !== "api.github.com") throw new Error(`Nobody stands for ${url.host}`);
    return new URL(`${hub.url}/api${url.pathname === "/graphql" ? "" : "/v3"}${url.pathname}${url.search}`);
  };
  house = await trackerHouse({
    has_real_sources: true,
    openContext: (clock, db) => {
      const network = { ...systemClock, now: clock.now };
      const counted = countedTime(clock, null);
      const store = rateStore({ db, clock, counted });
      const ledger = createRateLedger({ clock: network, store, onStoreError: () => undefined });
      const http = createHttp({ clock: network, ledger, cache: answerStore({ db, clock, counted }) });
      stopHttp = http.close;
      return (options) => {
        const context = http.open(options);
        return { ...context, fetch: (url, init) => context.fetch(standsFor(url), init) };
      };
    },
  });
  const { db, clock, log } = house;
  hub = await startGithub(clock.now);
  hub.tokens.add(token);
  repository = hubRepository("acme", "app", { is_private: true });
  const published_at = new Date(clock.now()).toISOString();
  for (const tag of ["v1.0.0", "v1.1.0"]) {
    const release = { tag, created_at: published_at, published_at, notes: `Notes ${tag}` };
    repository.releases.push({ ...release, is_draft: false, is_prerelease: false });
    addTag(repository, tag, published_at);
  }
  hub.repositories.push(repository);
  const engine = new FakeEngine();
  engine.add("app", "registry.test/acme/app:1.0.0", digest ?? null);
  engine.labelsOf = () => ({ "org.opencontainers.image.source": "https://github.com/acme/app" });
  parts = runParts(house.ground, {
    ...{ instance_id: "one", runtimes: fakeRuntimes(engine), self: { hostname: "me", data_dir: house.ground.dir } },
    releases: house.trackers,
  });
  const { connections, executors } = parts;
  adoption = adoptionService({
    ...{ db, clock, log, audit: house.ground.audit, connections, executors, trackers: house.trackers },
    nudge: () => undefined,
  });
  const config = { address: "fake://home" };
  ({ id: connection } = await connections.create(systemActor, { name: "Home", kind: "docker", config }));
});
afterEach(async () => {
  await house.close();
  stopHttp();
  await registry.stop();
  await hub[Symbol.asyncDispose]();
});

async function adopt(more: Record<string, unknown> = {}): Promise<string> {
  const { targets } = await adoption.proposals(connection, {}, live);
  const chosen = targets.map(({ kind, id, hash }) => ({ kind, id, hash }));
  const { adopted } = await adoption.adopt(systemActor, connection, { targets: chosen, ...more }, live);
  await house.tick();
  return adopted[0]?.executor.id ?? "";
}

async function evaluated(id: string) {
  await house.clock.runUntil(parts.evaluator.perform({ id }, live));
  return await parts.executors.get(id);
}

const sourcesOf = async () =>
  (await house.trackers.get("app")).sources.map(({ key, error }) => [
    key,
    error === null ? [] : codesIn(error.message_data),
  ]);

test("an image whose repository is private is followed, and the repository says that it needs a credential", async () => {
  const { trackers } = await adoption.proposals(connection, {}, live);
  expect(trackers.map((tracker) => tracker.repository)).toEqual([
    { kind: "github", url: "https://github.com/acme/app" },
  ]);
  const id = await adopt();
  expect(await sourcesOf()).toEqual([
    ["image", []],
    ["github", expect.arrayContaining(["sources.failed", "sources.private_or_missing"])],
  ]);
  const executor = await evaluated(id);
  expect([executor.state, executor.services[0]?.desired?.tag]).toEqual(["update", "1.1.0"]);
  expect(hub.seen.length).toBeGreaterThan(0);
  expect(JSON.stringify(hub.seen)).not.toContain(token);
});

test("with a credential, the repository adds its notes to the same versions", async () => {
  await adopt();
  const secret = { token };
  const credential = await house.credentials.create(systemActor, { name: "hub", kind: "github", secret });
  const { sources } = await house.trackers.get("app");
  await house.trackers.update(systemActor, "app", {
    sources: sources.map(({ key, kind, config, channels, credential_id }) => ({
      ...{ key, kind, config },
      channels: channels.map(({ name, type, include_pattern }) => ({ name, type, include_pattern })),
      credential_id: key === "github" ? credential.id : credential_id,
    })),
  });
  await house.check("app");
  expect(await sourcesOf()).toEqual([
    ["image", []],
    ["github", []],
  ]);
  const { items } = await house.trackers.versions("app", {});
  const newest = items.find(({ version }) => version === "1.1.0");
  expect(newest?.releases.map(({ source_key }) => source_key).toSorted()).toEqual(["github", "image"]);
});

test("without the repository, only the image is asked", async () => {
  await adopt({ follow_repositories: false });
  expect(await sourcesOf()).toEqual([["image", []]]);
  expect(hub.seen).toEqual([]);
});
