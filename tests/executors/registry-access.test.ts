import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import * as v from "valibot";
import { auditRecorder } from "../../src/auth/audit.ts";
import { connectionService } from "../../src/connections/service.ts";
import { type CredentialSecret, secretSchemas } from "../../src/credentials/schema.ts";
import { type AskedEngine, pullLogins, registryAccess } from "../../src/executors/artifacts/registry-access.ts";
import type { ExecutorSettings } from "../../src/executors/settings.ts";
import { runtimes } from "../../src/runtimes/index.ts";
import type { UpdatePlan } from "../../src/runtimes/plan.ts";
import {
  addImage,
  type Content,
  emptyContent,
  json,
  type StandIn,
  serve,
  standIn,
  testContext,
} from "../sources/oci/stand-in-registry.ts";
import { noOutages } from "../support/ground.ts";
import { channel, plain, type TrackerHouse, trackerHouse } from "../trackers/tracker-house.ts";

// A registry that serves plain http and wants a login, and an image there that no source of the executor watches.
const login = { username: "engine", password: "engine-pass" };
let registry: StandIn;
let content: Content;
let house: TrackerHouse;
let connections: ReturnType<typeof connectionService>;
const seen: (string | null)[] = [];
beforeAll(() => {
  registry = standIn((request, url) => {
    const authorization = request.headers.get("authorization");
    if (authorization === null) {
      return json({ errors: [] }, { status: 401, headers: { "www-authenticate": 'Basic realm="registry"' } });
    }
    seen.push(Buffer.from(authorization.slice("Basic ".length), "base64").toString("utf8"));
    return serve(content, "acme/app", request, url);
  });
});
afterAll(() => registry.stop());
beforeEach(async () => {
  content = emptyContent();
  seen.length = 0;
  const openContext = () => () => ({ ...testContext(), stats: () => ({ requests: 0, bytes: 0 }) });
  house = await trackerHouse({ has_real_sources: true, openContext });
  connections = connectionService({
    db: house.db,
    clock: house.clock,
    audit: auditRecorder({ clock: house.clock }),
    log: house.log,
    instance_id: "here",
    outages: noOutages,
    credentials: house.credentials,
    runtimes,
    openFetch: () => testContext().fetch,
    judgeHost: () => null,
    self: { hostname: "me", data_dir: "/data" },
  });
});
afterEach(() => house.close());

const image = () => `${registry.host}/acme/app`;
const settingsOf = (connection_id: string, bindings: Partial<ExecutorSettings["bindings"][number]>[]) =>
  ({ connection_id, bindings, target: { artifact: "image" } }) as unknown as ExecutorSettings;
const deps = () => ({
  releases: house.trackers,
  connections,
  openLogin: async (id: string): Promise<CredentialSecret<"oci">> =>
    v.parse(secretSchemas.oci, await house.credentials.openSecret("oci", id)),
});
const plainEngine: AskedEngine = { isPlainRegistry: async (name) => name === image() };

async function connect(at: string): Promise<string> {
  const { id } = await house.credentials.create(house.actor, { name: "engine", kind: "docker", secret: login });
  const config = { address: "/var/run/docker.sock", registry: at };
  return (await connections.create(house.actor, { name: "home", kind: "docker", config, credential_id: id })).id;
}
async function watch(name: string, username: string | null) {
  const secret = { name, kind: "oci", secret: { username, password: "p" } };
  const credential_id = username === null ? null : (await house.credentials.create(house.actor, secret)).id;
  const config = { image: `acme/${name}`, registry: registry.url };
  const source = { key: "main", kind: "oci", config, credential_id, channels: [channel("stable", plain)] };
  const tracker = await house.create(name, {}, [source]);
  return { service: name, source_kind: "oci", source_id: tracker.sources[0]?.id ?? "", credential_id };
}
const blind = { service: "app", source_kind: "github", source_id: "none", credential_id: null };
const planOf = (reference: string) => ({ services: [{ service: "app", to: { reference } }] }) as unknown as UpdatePlan;
const pulledAs = async (settings: ExecutorSettings) =>
  (await pullLogins(deps(), settings, planOf(`${image()}:1.1`))).map(({ username }) => username);

describe("the registry of an image that no source of the executor watches", () => {
  test("is asked with the connection's login, over the http that the engine pulls with", async () => {
    const digest = addImage(content, "1.1", {});
    const settings = settingsOf(await connect(registry.host), [blind]);
    const access = await registryAccess(deps(), settings, image(), plainEngine);
    expect(await house.trackers.findDigest(image(), "1.1", access)).toBe(digest);
    expect(new Set(seen)).toEqual(new Set(["engine:engine-pass"]));
    // The engine brings its own login.
    expect(await pulledAs(settings)).toEqual([]);
  });

  test("never gets a login that the connection has for another registry", async () => {
    const settings = settingsOf(await connect("other.test:5000"), [blind]);
    const access = await registryAccess(deps(), settings, image(), plainEngine);
    expect(access).toEqual({ login: null, is_plain: true });
    await expect(house.trackers.findDigest(image(), "1.1", access)).rejects.toMatchObject({ code: "unauthorized" });
    expect(seen).toEqual([]);
  });

  test.each([
    ["the engine may not be asked", { isPlainRegistry: () => Promise.resolve(null) }],
    ["the engine pulls over https", { isPlainRegistry: () => Promise.resolve(false) }],
    ["the runtime cannot tell", {}],
    ["there is no session", null],
  ] as const)("is asked over https where %s", async (_what, engine) => {
    const settings = settingsOf(await connect(registry.host), [blind]);
    expect((await registryAccess(deps(), settings, image(), engine)).is_plain).toBeNull();
  });

  test("is asked as another source asks it, with that one's login before the connection's", async () => {
    await watch("other", "neighbour");
    const settings = settingsOf(await connect(registry.host), [blind]);
    const access = await registryAccess(deps(), settings, image(), null);
    expect(access).toMatchObject({ login: { username: "neighbour" }, is_plain: true });
    expect(await pulledAs(settings)).toEqual(["neighbour"]);
  });

  test("is asked with the connection's login where the source there has none", async () => {
    await watch("app", null);
    const settings = settingsOf(await connect(registry.host), [blind]);
    expect(await registryAccess(deps(), settings, image(), null)).toMatchObject({
      login: { username: "engine" },
      is_plain: true,
    });
    expect(await pulledAs(settings)).toEqual([]);
  });

  test("is asked with the login of the executor's own source there, as the pull is", async () => {
    await watch("app", "nearest");
    const own = await watch("sidecar", "own");
    const settings = settingsOf(await connect(registry.host), [blind, own as never]);
    expect((await registryAccess(deps(), settings, image(), null)).login).toMatchObject({ username: "own" });
    expect(await pulledAs(settings)).toEqual(["own"]);
  });
});
