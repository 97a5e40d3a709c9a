import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
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
import { channel, plain, type TrackerHouse, trackerHouse } from "./tracker-house.ts";

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

describe("an image that no source of the executor watches", () => {
  const image = () => `${registry.host}/acme/app`;

  test("is asked about as a source at the same registry asks: by its scheme and with its login", async () => {
    const credential = await watch("other", "acme/other", true);
    const digest = addImage(content, "1.1", { config: { Env: ["A=1"] } });
    expect(await house.trackers.findDigest(image(), "1.1")).toBe(digest);
    expect(await house.trackers.findDigest(`${image()}:1.0`, "1.2")).toBeNull();
    expect(await house.trackers.findDigest(image(), "no tag")).toBeNull();
    expect(await house.trackers.credentialFor(image())).toBe(credential);
    const place = { image: `${image()}@${digest}` };
    expect(await house.trackers.readImageConfig(place, "1.1", "linux/amd64")).toEqual({ Env: ["A=1"] });
    expect(registry.seen.every(({ line }) => line.includes("/v2/acme/app/"))).toBe(true);
  });

  test.each([
    ["of the very image before any with a login", "acme/app", "acme/other", null],
    ["of the same owner before others with a login", "acme/two", "else/other", null],
    ["with a login before one without, of other owners", "some/two", "else/other", "second"],
  ])("takes the way of the source %s", async (_what, first, second, expected) => {
    await watch("first", first, false);
    const credential = await watch("second", second, true);
    expect(await house.trackers.credentialFor(image())).toBe(expected === null ? null : credential);
  });

  test("is asked about without a login, by https, where no source knows its registry", async () => {
    await expect(house.trackers.findDigest(image(), "1.1")).rejects.toThrow();
    expect(registry.seen).toEqual([]);
    await watch("other", "acme/other", true);
    expect(await house.trackers.credentialFor("ghcr.io/acme/app")).toBeNull();
  });
});
