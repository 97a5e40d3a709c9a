import { afterEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Writer } from "../../../src/db/client.ts";
import { connections, credentials, notifiers, tracker_sources } from "../../../src/db/tables.ts";
import { say } from "../../../src/messages/message.ts";
import { everyPage } from "../../support/every-page.ts";
import type { FormFields } from "../../support/test-app.ts";

type World = Awaited<ReturnType<typeof everyPage>>;
let world: World;
afterEach(() => world.app.close());

interface Case {
  what: string;
  table: SQLiteTable;
  store: (tx: Writer) => PromiseLike<unknown>;
  /** Where it is said, and in the answers of the API. */
  pages: (world: World) => readonly string[];
  api: (world: World) => string;
  /** A change of it that a form and the API take. */
  edit: (world: World) => { form: string; fields: FormFields; api: string };
  /** What would overwrite what is not understood. */
  refused: Readonly<Record<string, unknown>>;
}

const kind = "future";

const trackerFields = {
  ...{ is_enabled: "on", check_interval_minutes: "60", fetch_depth: "10", request_timeout_seconds: "15" },
  ...{ sorting: "semantic", "release_notes.source": "release" },
};

/** As after a downgrade: rows that a later version stored. */
const cases: readonly Case[] = [
  {
    ...{ what: "credentials", table: credentials, store: (tx) => tx.update(credentials).set({ kind }) },
    pages: ({ credential_id }) => ["/credentials", `/credentials/${credential_id}/edit`],
    api: ({ credential_id }) => `/credentials/${credential_id}`,
    edit: ({ credential_id }) => ({
      ...{ form: `/credentials/${credential_id}`, fields: { name: "renamed" }, api: `/credentials/${credential_id}` },
    }),
    refused: { secret: { username: "b", password: "another password" } },
  },
  {
    ...{ what: "notifiers", table: notifiers, store: (tx) => tx.update(notifiers).set({ kind }) },
    pages: ({ notifier_id }) => ["/notifiers", `/notifiers/${notifier_id}`, `/notifiers/${notifier_id}/edit`],
    api: ({ notifier_id }) => `/notifiers/${notifier_id}`,
    edit: ({ notifier_id }) => ({
      form: `/notifiers/${notifier_id}`,
      fields: { name: "renamed", language: "en", trigger_events: "new_release", is_enabled: "on" },
      api: `/notifiers/${notifier_id}`,
    }),
    refused: { url: "https://hooks.example.org/b" },
  },
  {
    ...{ what: "sources", table: tracker_sources, store: (tx) => tx.update(tracker_sources).set({ kind }) },
    pages: () => ["/trackers/app", "/trackers/app/edit"],
    api: () => "/trackers/app",
    edit: () => ({ form: "/trackers/app/edit", fields: trackerFields, api: "/trackers/app" }),
    refused: {
      sources: [
        { key: "main", kind: "oci", config: { image: "another" }, channels: [{ name: "stable", type: "stable" }] },
      ],
    },
  },
  {
    ...{ what: "connections", table: connections, store: (tx) => tx.update(connections).set({ kind }) },
    pages: () => ["/connections/connection-1", "/connections/connection-1/edit"],
    api: () => "/runtime-connections/connection-1",
    edit: () => ({
      ...{ form: "/connections/connection-1", fields: { name: "renamed", concurrent_runs: "2" } },
      api: "/runtime-connections/connection-1",
    }),
    refused: { config: { socket: "/another.sock" } },
  },
];

const meaningful = ["kind", "config", "credential_id", "sealed_secret", "sealed_config"];

describe.each(cases)("$what of a kind that this version does not know", ({ what, table, store, ...each }) => {
  const kept = async () =>
    (await world.app.db.read.select().from(table)).map((row) =>
      Object.fromEntries(Object.entries(row).filter(([column]) => meaningful.includes(column))),
    );

  test("leave every page and the API up, which say so, and stay as they are", async () => {
    world = await everyPage(say("connections.not_checked"));
    const { app, person } = world;
    await app.db.write(async (tx) => void (await store(tx)));
    const before = await kept();
    const ids: Readonly<Record<string, string>> = {
      ...{ "runtime-connections": "connection-1", executors: "e", runs: "r", snapshots: "p", trackers: "app" },
      ...{ credentials: world.credential_id, notifiers: world.notifier_id },
    };
    const resources = app.app.routes
      .filter(({ method, path }) => method === "GET" && path.startsWith("/api/") && !/[*]|stream|logs$/.test(path))
      .map(({ path }) => {
        const parts = path.split("/");
        return parts.map((part, at) => (part.startsWith(":") ? (ids[parts[at - 1] ?? ""] ?? "x") : part)).join("/");
      });
    for (const path of [...world.paths, ...new Set(resources)]) {
      const { status } = await person.get(path);
      expect({ path, ok: status < 500 }).toEqual({ path, ok: true });
    }
    const reason = `does not support ${what} of type`;
    for (const path of each.pages(world)) {
      const { text } = await person.get(path);
      expect({ path, said: text.includes(reason) }).toEqual({ path, said: true });
    }
    expect(JSON.stringify((await person.api("GET", each.api(world))).body)).toContain(reason);
    if (what === "sources") {
      const { items } = (await person.api("GET", "/trackers?state=failing")).body;
      expect(JSON.stringify(items)).toContain('"app"');
      expect((await person.get("/trackers?state=failing")).text).not.toContain("Waiting until");
    }

    const { form, fields, api } = each.edit(world);
    expect((await person.get(`${form.replace(/\/edit$/, "")}/edit`)).status).toBe(200);
    expect((await person.post(form, fields)).status).toBe(303);
    expect((await person.api("PATCH", api, { description: "changed" })).status).toBe(200);
    expect((await person.api("PATCH", api, each.refused)).status).toBe(422);
    await app.services.scheduler.tick();
    await app.services.scheduler.idle();
    expect(await kept()).toEqual(before);
  }, 120_000);
});

test("a tracker's form has no source of an unknown kind, and has the others once that one is to be deleted", async () => {
  world = await everyPage(say("connections.not_checked"));
  const { app, person } = world;
  const image = (key: string) => ({
    ...{ key, kind: "oci", config: { image: `registry.test/${key}` } },
    channels: [{ name: "stable", type: "stable" }],
  });
  const sources = [image("first"), image("second")];
  expect((await person.api("POST", "/trackers", { name: "two", sources })).status).toBe(201);
  await app.db.write((tx) => tx.update(tracker_sources).set({ kind }).where(eq(tracker_sources.key, "second")));
  const named = (text: string) =>
    [...text.matchAll(/name="(sources\.[^"]+\.key)"[^>]*value="([^"]*)"/g)].map(([, , key]) => key);
  const edit = await person.get("/trackers/two/edit");
  expect(edit.text).not.toContain('name="sources.');
  expect(edit.text).toContain("registry.test/first");
  expect(edit.text).toContain("registry.test/second");
  expect(edit.text).not.toContain("Check the settings of this source");
  expect((await person.post("/trackers/two/edit", trackerFields)).status).toBe(303);
  const kept = (await person.api("GET", "/trackers/two")).body;
  expect(kept).toMatchObject({ check_interval_minutes: 60, sources: [{ key: "first" }, { key: "second", kind }] });

  const others = /href="(\/trackers\/two\/edit\?[^"]+)"/.exec(edit.text)?.[1] ?? "";
  const form = await person.get(others);
  expect(named(form.text)).toEqual(["first"]);
  expect(form.text).toContain("Saving deletes the source &quot;second&quot;");
  const first = {
    ...{ "sources.0.key": "first", "sources.0.kind": "oci", "sources.0.config.image": "registry.test/first" },
    ...{ "sources.0.channels.0.type": "stable" },
  };
  const second = { "sources.1.key": "second", "sources.1.kind": kind, "sources.1.channels.0.type": "stable" };
  // Of a page that the later version drew.
  expect((await person.post("/trackers/two/edit", { ...trackerFields, ...first, ...second })).status).toBe(422);
  const [action = "", seen = ""] = [/ action="(\/trackers\/two\/edit[^"]*)"/, /name="_seen" value="([^"]+)"/].map(
    (each) => each.exec(form.text)?.[1],
  );
  expect((await person.post(action, { ...trackerFields, ...first, _seen: seen })).status).toBe(303);
  expect((await person.api("GET", "/trackers/two")).body).toMatchObject({ sources: [{ key: "first", kind: "oci" }] });

  await app.db.write((tx) => tx.update(tracker_sources).set({ kind }).where(eq(tracker_sources.key, "first")));
  const alone = await person.get("/trackers/two/edit");
  expect(alone.text).not.toContain("edit?sources=known");
  expect(alone.text.match(/href="\/trackers\/two\/delete"/g)).toHaveLength(2);
});

test("the form of a connection of an unknown kind leaves its credential, and the API refuses to take it away", async () => {
  world = await everyPage(say("connections.not_checked"));
  const { app, person, credential_id } = world;
  await app.db.write(async (tx) => {
    await tx.update(credentials).set({ kind });
    await tx.update(connections).set({ kind, credential_id });
  });
  expect((await person.post("/connections/connection-1", { name: "renamed", concurrent_runs: "2" })).status).toBe(303);
  const path = "/runtime-connections/connection-1";
  const refused = await person.api("PATCH", path, { credential_id: null });
  const fields = { credential_id: expect.stringContaining("does not support connections of type") };
  expect(refused).toMatchObject({ status: 422, body: { error: { fields } } });
  const body = { name: "renamed", concurrent_runs: 2, credential_id };
  expect(await person.api("PATCH", path, { config: {}, credential_id })).toMatchObject({ status: 200, body });
});

test("a source says that its credential is of another kind, and a notifier's messages wait", async () => {
  world = await everyPage(say("connections.not_checked"));
  const { app, person } = world;
  await app.db.write(async (tx) => {
    await tx.update(credentials).set({ kind });
    await tx.update(notifiers).set({ kind });
    await tx.update(tracker_sources).set({ next_check_at: 0, last_error_code: null });
  });
  await person.api("POST", "/trackers/乙/checks");
  await app.services.scheduler.tick();
  await app.services.scheduler.idle();
  const { body } = await person.api("GET", "/trackers/乙");
  const message = 'The credential "甲" is of type "future"; choose one of type "oci"';
  expect(body).toMatchObject({ sources: [{ error: { code: "rejected", message } }] });
  const sent = await person.api("POST", `/notifiers/${world.notifier_id}/deliveries`);
  expect(sent.body).toMatchObject({ last_error: expect.stringContaining('notifiers of type "future"') });
});
