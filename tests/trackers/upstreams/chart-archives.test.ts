import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { type StandIn, standIn, testContext } from "../../sources/oci/stand-in-registry.ts";
import { channel, plain, type TrackerHouse, trackerHouse } from "../tracker-house.ts";

// A chart repository that wants a login.
const authorization = `Basic ${btoa("ci:chart-pass")}`;
let archives: Map<string, Uint8Array<ArrayBuffer>>;
let server: StandIn;
let house: TrackerHouse;
let source: string;

const digestOf = (version: string) =>
  `sha256:${createHash("sha256")
    .update(archives.get(version) ?? "")
    .digest("hex")}`;
const read = async (version: string, digest: string | null) =>
  Buffer.from(await house.trackers.readChart(source, { version, digest }));

beforeEach(async () => {
  archives = new Map([["1.0.0", gzipSync("one")]]);
  server = standIn((request, { pathname }) => {
    if (request.headers.get("authorization") !== authorization) return new Response("", { status: 401 });
    const entries = [...archives.keys()].map((version) => ({ version, urls: [version], digest: digestOf(version) }));
    if (pathname === "/index.yaml") return Response.json({ entries: { app: entries } });
    return new Response(archives.get(pathname.slice(1)) ?? null);
  });
  const openContext = () => () => ({ ...testContext(), stats: () => ({ requests: 0, bytes: 0 }) });
  house = await trackerHouse({ has_real_sources: true, openContext });
  const secret = { name: "charts", kind: "helm", secret: { basic_auth: "ci:chart-pass" } };
  const { id: credential_id } = await house.credentials.create(house.actor, secret);
  const config = { chart: "app", repository_url: server.url };
  const { sources } = await house.create("app", {}, [
    { key: "main", kind: "helm", config, credential_id, channels: [channel("stable", plain)] },
  ]);
  source = sources[0]?.id ?? "";
});
afterEach(async () => {
  await house.close();
  await server.stop();
});

test("an archive is downloaded with the source's login, and once for several plans", async () => {
  for (let times = 0; times < 3; times++) expect(await read("1.0.0", digestOf("1.0.0"))).toEqual(gzipSync("one"));
  expect(server.take()).toEqual(["GET /index.yaml", "GET /1.0.0"]);
});

test("one that was published again is not the one that is kept", async () => {
  const before = digestOf("1.0.0");
  await read("1.0.0", before);
  archives.set("1.0.0", gzipSync("another"));
  expect(await read("1.0.0", digestOf("1.0.0"))).toEqual(gzipSync("another"));
  expect(await read("1.0.0", before)).toEqual(gzipSync("one"));
});

test("one whose digest is unknown is downloaded each time", async () => {
  await read("1.0.0", null);
  archives.set("1.0.0", gzipSync("another"));
  expect(await read("1.0.0", null)).toEqual(gzipSync("another"));
});

test("a large one is downloaded each time", async () => {
  archives.set("2.0.0", Buffer.concat([gzipSync("two"), Buffer.alloc(2 * 1024 * 1024)]));
  for (let times = 0; times < 2; times++) await read("2.0.0", digestOf("2.0.0"));
  expect(server.take()).toHaveLength(4);
});

test("a source that has no charts, and one that is not there, say so", async () => {
  const config = { image: "acme/app", registry: server.url };
  const { sources } = await house.create("image", {}, [
    { key: "main", kind: "oci", config, channels: [channel("stable", plain)] },
  ]);
  source = sources[0]?.id ?? "";
  await expect(read("1.0.0", null)).rejects.toMatchObject({ name: "PluginError", code: "rejected" });
  source = "0";
  await expect(read("1.0.0", null)).rejects.toMatchObject({ status: 404 });
});
