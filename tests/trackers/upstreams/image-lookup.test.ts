import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { releases, tracker_sources } from "../../../src/db/tables.ts";
import {
  addImage,
  addIndex,
  type Content,
  emptyContent,
  json,
  type StandIn,
  serve,
  standIn,
  testContext,
} from "../../sources/oci/stand-in-registry.ts";
import { channel, plain, type TrackerHouse, trackerHouse } from "../tracker-house.ts";

// Images that run, asked about at a registry that serves plain http and wants a login.
const login = { username: "ci", password: "reg-pass" };
const authorization = `Basic ${Buffer.from(`${login.username}:${login.password}`).toString("base64")}`;
let registry: StandIn;
let content: Content;
let house: TrackerHouse;
beforeAll(() => {
  registry = standIn((request, url) =>
    request.headers.get("authorization") === authorization
      ? serve(content, "acme/app", request, url)
      : json({ errors: [] }, { status: 401, headers: { "www-authenticate": 'Basic realm="registry"' } }),
  );
});
afterAll(() => registry.stop());
beforeEach(async () => {
  content = emptyContent();
  registry.take();
  const openContext = () => () => ({ ...testContext(), stats: () => ({ requests: 0, bytes: 0 }) });
  house = await trackerHouse({ has_real_sources: true, openContext });
});
afterEach(() => house.close());

async function watch(name: string, image: string, withLogin: boolean): Promise<string | null> {
  const secret = { name, kind: "oci", secret: login };
  const credential_id = withLogin ? (await house.credentials.create(house.actor, secret)).id : null;
  const config = { image, registry: registry.url };
  await house.create(name, {}, [
    { key: "main", kind: "oci", config, credential_id, channels: [channel("stable", plain)] },
  ]);
  return credential_id;
}

const withLogin = (is_plain: boolean | null) => ({ login: { credential_id: "c", ...login }, is_plain });

describe("the size of an image that a source watches", () => {
  test("is stored once a plan has read its manifest, and not replaced by another platform's", async () => {
    const entry = (architecture: string, layer: number) => {
      const platform = { os: "linux", architecture };
      return { digest: addImage(content, null, {}, platform, { config: 1, layers: [layer] }), platform };
    };
    addIndex(content, "1.1", [entry("arm64", 80), entry("amd64", 60)]);
    await watch("app", "acme/app", true);
    const [source] = (await house.trackers.get("app")).sources;
    const source_id = source?.id ?? "";
    const now = house.clock.now();
    const release = { id: "r", source_id, version: "1.1", tag: "1.1", stage: "tag" as const, first_observed_at: now };
    await house.db.write((tx) => tx.insert(releases).values(release));
    const stored = async () => {
      const [row] = await house.db.read.select().from(releases);
      return [row?.size_bytes, row?.size_platform];
    };
    expect(await stored()).toEqual([null, null]);
    await house.trackers.readImageConfig({ source_id }, "1.1", "linux/arm64");
    expect(await stored()).toEqual([81, "linux/arm64"]);
    await house.trackers.readImageConfig({ source_id }, "1.1", "linux/amd64");
    expect(await stored()).toEqual([81, "linux/arm64"]);
  });
});

describe("an image that no source of the executor watches", () => {
  const image = () => `${registry.host}/acme/app`;

  test("is asked about with the login and over the scheme given", async () => {
    const digest = addImage(content, "1.1", { config: { Env: ["A=1"] } });
    expect(await house.trackers.findDigest(image(), "1.1", withLogin(true))).toBe(digest);
    expect(await house.trackers.findDigest(`${image()}:1.0`, "1.2", withLogin(true))).toBeNull();
    expect(await house.trackers.findDigest(image(), "no tag", withLogin(true))).toBeNull();
    const place = { image: `${image()}@${digest}`, access: withLogin(true) };
    expect(await house.trackers.readImageConfig(place, "1.1", "linux/amd64")).toEqual({ Env: ["A=1"] });
    expect(registry.seen.every(({ line }) => line.includes("/v2/acme/app/"))).toBe(true);
    registry.take();
    const anonymous = { login: null, is_plain: true };
    await expect(house.trackers.findDigest(image(), "1.1", anonymous)).rejects.toMatchObject({ code: "unauthorized" });
    await expect(house.trackers.findDigest(image(), "1.1", withLogin(null))).rejects.toThrow();
    expect(registry.take()).toHaveLength(1);
  });

  test("is read once by its digest, and again by a tag and after a failure", async () => {
    const digest = addImage(content, "1.1", { config: { Env: ["A=1"] } });
    const read = (tag: string, access: Parameters<typeof house.trackers.findDigest>[2] = withLogin(true)) =>
      house.trackers.readImageConfig({ image: `${image()}:1.0`, access }, tag, "linux/amd64");
    await expect(read(digest, { login: null, is_plain: true })).rejects.toMatchObject({ code: "unauthorized" });
    registry.take();
    expect(await Promise.all([read(digest), read(digest)])).toEqual([{ Env: ["A=1"] }, { Env: ["A=1"] }]);
    const once = registry.take().length;
    expect(await read(digest)).toEqual({ Env: ["A=1"] });
    expect(registry.take()).toEqual([]);
    await read("1.1");
    expect(registry.take()).toHaveLength(once);
  });

  test.each([
    ["of the very image before any with a login", "acme/app", "acme/other", null],
    ["of the same owner before others with a login", "acme/two", "else/other", null],
    ["with a login before one without, of other owners", "some/two", "else/other", "second"],
  ])("takes the way of the source %s", async (_what, first, second, expected) => {
    await watch("first", first, false);
    const credential = await watch("second", second, true);
    const credential_id = expected === null ? null : credential;
    expect(await house.trackers.sourceAt(image())).toEqual({ credential_id, is_plain: true });
  });

  test("passes over a stored source whose image nobody takes any more, and an image that no source could watch", async () => {
    await watch("broken", "acme/broken", false);
    await house.db.write((tx) => tx.update(tracker_sources).set({ config: { image: "registry.test/\u4e19" } }));
    expect(await house.trackers.sourceAt(image())).toBeNull();
    const credential_id = await watch("sound", "acme/sound", true);
    expect(await house.trackers.sourceAt(image())).toEqual({ credential_id, is_plain: true });
    for (const odd of ["registry.test/\u4e19", "", "a b", "sha256:abc"]) await house.trackers.sourceAt(odd);
  });

  test("has no source where none watches its registry", async () => {
    expect(await house.trackers.sourceAt(image())).toBeNull();
    await watch("other", "acme/other", true);
    expect(await house.trackers.sourceAt("ghcr.io/acme/app")).toBeNull();
  });

  test.each([
    ["http://reg.test", "reg.test/acme/app", true],
    ["http://reg.test", "reg.test:80/acme/app", true],
    ["https://reg.test", "reg.test:443/acme/app", false],
    ["https://reg.test", "reg.test:80/acme/app", null],
    ["http://reg.test", "reg.test:443/acme/app", null],
    ["http://reg.test:5000", "reg.test/acme/app", null],
  ])("knows of a source at %s how %s is asked", async (address, name, is_plain) => {
    const config = { image: "acme/other", registry: address };
    await house.create("other", {}, [{ key: "main", kind: "oci", config, channels: [channel("stable", plain)] }]);
    const expected = is_plain === null ? null : { credential_id: null, is_plain };
    expect(await house.trackers.sourceAt(name)).toEqual(expected);
  });
});
