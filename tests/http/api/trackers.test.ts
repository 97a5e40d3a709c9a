import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Hono } from "hono";
import { mountRoutes } from "../../../src/http/api/route.ts";
import { trackerRoutes } from "../../../src/http/api/trackers.ts";
import type { AppEnv } from "../../../src/http/context.ts";
import { openApi } from "../../../src/http/openapi.ts";
import { respondToApiError, toAppError } from "../../../src/http/respond-to-error.ts";
import { channel, plain, source, type TrackerHouse, trackerHouse } from "../../trackers/tracker-house.ts";

let house: TrackerHouse;
let scope: "read" | "full";
let app: Hono<AppEnv>;
beforeEach(async () => {
  house = await trackerHouse();
  scope = "full";
  app = new Hono<AppEnv>();
  app.use(async (c, next) => {
    c.set("request_id", "request-1");
    c.set("actor", { name: "admin", address: null, request_id: "request-1" });
    c.set("session", {
      id: "s",
      kind: "session",
      scope,
      via: "bearer",
      administrator_id: "a",
      username: "admin",
      is_password_change_required: false,
      expires_at: Number.MAX_SAFE_INTEGER,
    });
    await next();
  });
  mountRoutes(app, trackerRoutes(house), { once: () => Promise.reject(new Error("No request here has a key")) });
  app.onError((error, c) =>
    respondToApiError(
      c,
      toAppError(error, (text) => text),
    ),
  );
});
afterEach(() => house.close());

async function call(method: string, path: string, body?: unknown) {
  const response = await app.request(`http://tidemark.test/api${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : JSON.parse(text) };
}

const input = (name: string, change: Record<string, unknown> = {}) => ({ name, sources: [source(name)], ...change });

test("a tracker is created, checked, read, changed and deleted", async () => {
  house.publish("web", "1.0.0", "1.1.0");
  const created = await call("POST", "/trackers", input("web"));
  expect(created).toMatchObject({ status: 201, body: { name: "web", state: "pending" } });
  expect(created.body.created_at).toBe("2026-01-05T12:00:00.000Z");

  const requested = await call("POST", "/trackers/web/checks");
  expect(requested).toMatchObject({
    status: 202,
    body: { tracker: "web", sources: [{ key: "main", is_waiting: true }] },
  });
  await house.tick();
  expect(await call("GET", "/trackers/web/checks")).toMatchObject({
    status: 200,
    body: { sources: [{ state: "ok", is_waiting: false, last_checked_at: "2026-01-05T12:00:00.000Z" }] },
  });
  expect(await call("GET", "/trackers/web")).toMatchObject({
    body: { sources: [{ channels: [{ type: "stable", latest: { tag: "1.1.0" } }] }] },
  });
  const releases = await call("GET", "/trackers/web/releases?channel=stable&limit=1");
  expect(releases).toMatchObject({ status: 200, body: { items: [{ tag: "1.1.0", latest_in: ["stable"] }] } });
  const id: unknown = releases.body.items[0].id;
  expect(await call("GET", `/trackers/web/releases/${String(id)}`)).toMatchObject({
    body: { tag: "1.1.0", notes: null },
  });
  expect(await call("GET", "/trackers/web/explanation?tag=1.0.0")).toMatchObject({
    body: { sources: [{ channels: [{ rank: 2, latest: "1.1.0" }] }] },
  });
  expect(await call("GET", "/releases?limit=1")).toMatchObject({ status: 200, body: { items: [{ tracker: "web" }] } });

  expect(await call("PATCH", "/trackers/web", { description: "Front" })).toMatchObject({
    status: 200,
    body: { description: "Front" },
  });
  expect(await call("GET", "/trackers?search=fro")).toMatchObject({
    body: { items: [{ name: "web" }], next_cursor: null },
  });
  expect(await call("DELETE", "/trackers/web")).toEqual({ status: 204, body: null });
  expect((await call("GET", "/trackers/web")).status).toBe(404);
});

test("a name of any script is part of the path", async () => {
  await call("POST", "/trackers", input("网关-1", { sources: [source("gateway")] }));
  expect(await call("GET", `/trackers/${encodeURIComponent("网关-1")}`)).toMatchObject({ body: { name: "网关-1" } });
});

test("POST /api/trackers refuses fields by their path", async () => {
  const sources = [source("a", { channels: [channel("stable", "(")] }), source("b")];
  expect(await call("POST", "/trackers", { name: "a b", sources, colour: 1 })).toMatchObject({
    status: 422,
    body: {
      error: {
        code: "invalid_input",
        fields: {
          name: expect.any(String),
          "sources.0.channels.0.include_pattern": expect.any(String),
          colour: "There is no such field",
        },
      },
    },
  });
});

test("DELETE /api/trackers/{name} is refused while an executor is bound", async () => {
  const { body } = await call("POST", "/trackers", input("web"));
  await house.bind("one", { tracker_id: body.id, source_id: body.sources[0].id, channel: "stable" });
  expect(await call("DELETE", "/trackers/web")).toMatchObject({ status: 409, body: { error: { code: "in_use" } } });
});

test("POST /api/tracker-previews judges without saving", async () => {
  house.publish("web", "1.0.0", "edge");
  const preview = { kind: "oci", config: { image: "web" }, channels: [channel("stable", plain)] };
  expect(await call("POST", "/tracker-previews", preview)).toMatchObject({
    status: 200,
    body: { total: 2, channels: [{ type: "stable", accepted_count: 1, latest: "1.0.0" }] },
  });
  expect((await call("GET", "/trackers")).body.items).toEqual([]);
});

describe("a token of scope read", () => {
  beforeEach(() => {
    scope = "read";
  });

  test.each([
    ["POST", "/trackers"],
    ["PATCH", "/trackers/web"],
    ["DELETE", "/trackers/web"],
    ["POST", "/trackers/web/checks"],
    // A preview sends a stored credential to the registry that the input names.
    ["POST", "/tracker-previews"],
  ])("may not %s %s", async (method, path) => {
    expect(await call(method, path, method === "DELETE" ? undefined : {})).toMatchObject({
      status: 403,
      body: { error: { code: "scope_too_small" } },
    });
  });

  test("may read", async () => {
    expect((await call("GET", "/trackers")).status).toBe(200);
  });
});

test("the OpenAPI document tells kinds apart and names every field of a tracker", () => {
  const document = JSON.parse(openApi({ routes: trackerRoutes(house), version: "1" }).text("http://tidemark.test"));
  const schema = document.paths["/api/trackers"].post.requestBody.content["application/json"].schema;
  expect(Object.keys(schema.properties)).toEqual([
    "name",
    "is_enabled",
    "sources",
    "check_interval_minutes",
    "fetch_depth",
    "request_timeout_seconds",
    "sorting",
    "release_fallback",
    "description",
    "release_notes",
  ]);
  expect(schema.properties.release_notes.discriminator).toEqual({ propertyName: "source" });
  expect(schema.properties.sources.items.discriminator).toEqual({ propertyName: "kind" });
  expect(JSON.stringify(schema)).toContain("published_at_mode");
});
