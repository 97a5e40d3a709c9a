import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { listSealedValues, sealedColumns, storeSealedValue } from "../../../src/db/sealed-columns.ts";
import {
  credentials,
  deliveries,
  notifiers,
  oidc_bindings,
  oidc_providers,
  run_logs,
  snapshots,
  tracker_sources,
} from "../../../src/db/tables.ts";
import { say } from "../../../src/messages/message.ts";
import { generateFernetKey } from "../../../src/secrets/fernet.ts";
import { createSealer } from "../../../src/secrets/sealed.ts";
import { addImage, emptyContent, serve, standIn } from "../../sources/oci/stand-in-registry.ts";
import { everyPage } from "../../support/every-page.ts";
import { testApp } from "../../support/test-app.ts";

/** As after a restore of other keys, or a fault of the disk: every secret of every table is there and none can be read. */
const ways = {
  "of another key": ({ clock }: World["app"]) => {
    const other = createSealer({ keys: { primary: generateFernetKey() }, clock, onOpen: () => undefined });
    return () => other.seal("a secret of another installation");
  },
  damaged: () => (text: string) => `${text.slice(0, 60)}AAAA${text.slice(64)}`,
} as const;

type World = Awaited<ReturnType<typeof everyPage>>;

describe.each(Object.entries(ways))("stored secrets that are %s", (_how, spoil) => {
  let world: World;
  let provider: string;
  let kept: Map<string, string>;

  const sealed = async () => {
    const found = new Map<string, string>();
    for (const column of sealedColumns) {
      for (const { id, value } of await listSealedValues(world.app.db.read, column, Number.MIN_SAFE_INTEGER, 100))
        found.set(`${column.table_name} ${id}`, value);
    }
    return found;
  };
  const api = async (method: string, path: string, input?: object) => await world.person.api(method, path, input);

  beforeAll(async () => {
    world = await everyPage(say("connections.not_checked"));
    const { app } = world;
    await api("PATCH", "/settings", { base_url: app.origin });
    const created = await api("POST", "/oidc-providers", {
      ...{ slug: "home", display_name: "Home", client_id: "t", client_secret: "a client secret" },
      issuer_url: "https://id.invalid",
    });
    expect(created.status).toBe(201);
    provider = String(created.body.id);
    const second = { name: "second", kind: "oci", secret: { username: "a", password: "another password" } };
    expect((await api("POST", "/credentials", second)).status).toBe(201);
    const log = { id: "log", run_id: "r", key: "a", pod: "", container: "a", is_previous: false, at: 1 };
    await app.db.write(async (tx) => {
      await tx.insert(run_logs).values({ ...log, sealed_lines: app.sealer.sealJson(["a line"]) });
      const how = spoil(app);
      for (const column of sealedColumns) {
        for (const { rowid, value } of await listSealedValues(tx, column, Number.MIN_SAFE_INTEGER, 100))
          await storeSealedValue(tx, column, rowid, how(value));
      }
    });
    kept = await sealed();
  });
  afterAll(() => world.app.close());

  const reason = "a stored secret cannot be decrypted; it is damaged or belongs to another key";

  test("every page opens, in both languages", async () => {
    for (const language of ["en", "zh"]) {
      for (const path of world.paths) {
        const { status } = await world.person.get(path, { headers: { "accept-language": language } });
        expect({ path, ok: status < 500 }).toEqual({ path, ok: true });
      }
    }
  }, 120_000);

  test("every resource of the API answers", async () => {
    const { app, credential_id, notifier_id } = world;
    const ids: Readonly<Record<string, string>> = {
      ...{ "runtime-connections": "connection-1", executors: "e", runs: "r", snapshots: "p", trackers: "app" },
      ...{ credentials: credential_id, notifiers: notifier_id, "oidc-providers": provider },
    };
    const paths = new Set(
      app.app.routes
        .filter(({ method, path }) => method === "GET" && path.startsWith("/api/") && !/[*]|stream|logs$/.test(path))
        .map(({ path }) => {
          const parts = path.replace("/api", "").split("/");
          return parts.map((part, at) => (part.startsWith(":") ? (ids[parts[at - 1] ?? ""] ?? "x") : part)).join("/");
        }),
    );
    expect(paths.size).toBeGreaterThan(20);
    for (const path of paths) {
      const { status } = await world.person.get(`/api${path}`);
      expect({ path, ok: status < 500 }).toEqual({ path, ok: true });
    }
  }, 120_000);

  test("a list marks them, and each page says why and what to do", async () => {
    const { app, person, credential_id, notifier_id } = world;
    for (const [path, id] of [
      ["/credentials", credential_id],
      ["/notifiers", notifier_id],
    ] as const) {
      expect((await person.get(path)).text).toContain("Unreadable");
      expect((await person.get(`${path}?state=unreadable`)).text).toContain(id);
    }
    expect((await person.get("/credentials?state=used")).text).not.toContain(credential_id);
    expect((await person.get("/notifiers?state=sending")).text).not.toContain(notifier_id);
    expect(await app.services.notifications.counts({})).toMatchObject({
      state: { unreadable: 1 },
    });
    for (const [path, remedy] of [
      [`/credentials/${credential_id}/edit`, "Enter the whole secret again below"],
      [`/notifiers/${notifier_id}`, "Enter its webhook URL again"],
      [`/notifiers/${notifier_id}/edit`, "Enter its webhook URL again"],
      ["/settings/sign-in-provider", "Enter the client secret again"],
      ["/settings/sign-in-provider/edit", "Enter the client secret again"],
      ["/executors/e/snapshots/p", "Delete it, or choose another one"],
      ["/executors/e/snapshots/p/diff", "Delete it, or choose another one"],
      ["/executors/e/snapshots/p/restore", "Delete it, or choose another one"],
      ["/executors/e/snapshots/p/export", "Delete it, or choose another one"],
      ["/runs/r", "The log could not be read"],
    ] as const) {
      const { text } = await person.get(path);
      expect({ path, reason: text.toLowerCase().includes(reason), remedy: text.includes(remedy) }).toEqual({
        ...{ path, reason: true, remedy: true },
      });
    }
    // Nothing is offered that cannot work.
    expect((await person.get(`/notifiers/${notifier_id}`)).text).not.toContain(`/notifiers/${notifier_id}/deliveries"`);
    const problem = { code: "secret_unreadable", message: expect.stringContaining(reason) };
    for (const path of [
      `/credentials/${credential_id}`,
      `/notifiers/${notifier_id}`,
      `/oidc-providers/${provider}`,
      "/snapshots/p",
    ])
      expect((await api("GET", path)).body).toMatchObject({ problem });
    const refused = { status: 424, body: { error: { message: expect.stringContaining(reason) } } };
    expect(await api("GET", "/snapshots/p/diff")).toMatchObject(refused);
    expect(await api("GET", "/snapshots/p/export")).toMatchObject(refused);
  });

  test("each can be renamed and disabled without it, and stays sealed", async () => {
    const { credential_id, notifier_id } = world;
    const renamed = [
      await api("PATCH", `/credentials/${credential_id}`, { name: "renamed" }),
      await api("PATCH", `/notifiers/${notifier_id}`, { name: "renamed", signing_secret: null }),
      await api("PATCH", `/oidc-providers/${provider}`, { display_name: "renamed", is_enabled: true }),
      await api("PATCH", "/snapshots/p", { is_locked: false }),
    ];
    expect(renamed.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const half = { signing_secret: "a signing secret of ours" };
    expect(await api("PATCH", `/notifiers/${notifier_id}`, half)).toMatchObject({
      ...{ status: 422, body: { error: { fields: { url: expect.stringContaining("Enter the URL again") } } } },
    });
    expect(await api("PATCH", `/credentials/${credential_id}`, { secret: { username: "b" } })).toMatchObject({
      ...{ status: 422, body: { error: { fields: { "secret.password": "This field is required" } } } },
    });
    expect(await sealed()).toEqual(kept);
  });

  test("signing in with the provider is refused at once and audited, and the page stays open for the password", async () => {
    const { app, person } = world;
    await person.post("/account/binding/bind", { current_password: "x" });
    const { status, body } = await api("GET", `/oidc-providers/${provider}`);
    expect({ status, body }).toMatchObject({ status: 200, body: { has_client_secret: false, is_bound: false } });
    const [row] = await app.db.read.select({ id: sql<string>`id` }).from(sql`administrators`);
    const bound = { issuer: "https://id.invalid", subject: "me", bound_at: 1 };
    await app.db.write((tx) =>
      tx.insert(oidc_bindings).values({ provider_id: provider, administrator_id: String(row?.id), ...bound }),
    );
    const login = await app.app.request("/login");
    expect(login.status).toBe(200);
    expect(await login.text()).toContain("/auth/oidc/home/start");
    const start = await app.app.request("/auth/oidc/home/start");
    expect(start.status).toBe(403);
    expect(await start.text()).toContain("password");
    expect((await person.get("/settings/audit")).text).toContain("a stored secret cannot be read");
    expect((await person.get("/settings/sign-in-provider")).text).toContain(
      "Remove the binding, enter the client secret",
    );
    expect((await person.get("/account")).status).toBe(200);
    await app.db.write((tx) => tx.delete(oidc_bindings));
  });

  test("a test message says so, and messages that wait are due once the URL is entered again", async () => {
    const { app, notifier_id } = world;
    const sent = await api("POST", `/notifiers/${notifier_id}/deliveries`);
    expect(sent.body).toMatchObject({ state: "failed", last_error: expect.stringContaining(reason) });
    const now = app.clock.now();
    const delivery = { id: "waits", notifier_id, event: "new_release", body: { title: "A new version" } };
    const waiting = { state: "pending", next_attempt_at: now + 1_800_000, created_at: now } as const;
    await app.db.write((tx) => tx.insert(deliveries).values({ ...delivery, ...waiting }));
    const url = "https://hooks.example.org/b";
    const { body } = await api("PATCH", `/notifiers/${notifier_id}`, { url });
    expect(body).toMatchObject({ problem: null, has_signing_secret: false });
    const [due] = await app.db.read.select().from(deliveries).where(eq(deliveries.id, "waits"));
    expect(due).toMatchObject({ state: "pending", next_attempt_at: now });
    const [row] = await app.db.read.select().from(notifiers).where(eq(notifiers.id, notifier_id));
    expect(row === undefined ? null : JSON.parse(app.sealer.open(row.sealed_config))).toEqual({ url });
  });

  test("entered again or deleted, nothing is left of it", async () => {
    const { app, person, credential_id } = world;
    const refused = { credential_id, last_error_code: "rejected", next_check_at: 9_000_000_000_000 };
    await app.db.write((tx) => tx.update(tracker_sources).set(refused).where(eq(tracker_sources.id, "乙")));
    const form = { name: "again", "secret.username": "a", "secret.password": "another password" };
    expect((await person.post(`/credentials/${credential_id}`, form)).status).toBe(303);
    expect((await api("GET", `/credentials/${credential_id}`)).body).toMatchObject({ problem: null });
    const [source] = await app.db.read.select().from(tracker_sources).where(eq(tracker_sources.id, "乙"));
    expect(source?.next_check_at).toBeLessThanOrEqual(app.clock.now());
    const secret = { client_secret: "another client secret" };
    expect((await api("PATCH", `/oidc-providers/${provider}`, secret)).body).toMatchObject({ problem: null });
    expect((await person.post("/executors/e/snapshots/p/delete", {})).status).toBe(303);
    expect(await app.db.read.select().from(snapshots)).toEqual([]);
    expect((await api("DELETE", `/oidc-providers/${provider}`)).status).toBe(204);
    expect(await app.db.read.select().from(oidc_providers)).toEqual([]);
    const unused = await app.db.read.select().from(credentials).where(eq(credentials.name, "second"));
    expect((await api("DELETE", `/credentials/${unused[0]?.id}`)).status).toBe(204);
  });
});

test("a check whose credential cannot be read fails with the reason, the others go on, and a new secret makes it due", async () => {
  const content = emptyContent();
  addImage(content, "1.0", { created: "2026-01-04T08:00:00Z", config: {} });
  const registry = standIn(async (request, url) => serve(content, "acme/app", request, url));
  const app = await testApp();
  try {
    const { api, get } = await app.signedIn();
    const secret = { username: "a", password: "a password of a registry" };
    const { body } = await api("POST", "/credentials", { name: "ci", kind: "oci", secret });
    const channels = [{ name: "stable", type: "stable" }];
    const source = { key: "main", kind: "oci", config: { image: "acme/app", registry: registry.url }, channels };
    const stored = (await app.db.read.select().from(credentials))[0]?.sealed_secret ?? "";
    await app.db.client.execute({
      sql: "update credentials set sealed_secret = ?",
      args: [`${stored.slice(0, 60)}AAAA${stored.slice(64)}`],
    });
    for (const [name, credential_id] of [
      ["sealed", body.id],
      ["open", null],
    ])
      expect((await api("POST", "/trackers", { name, sources: [{ ...source, credential_id }] })).status).toBe(201);
    const checked = async (name: string) => {
      await app.services.scheduler.tick();
      await app.services.scheduler.idle();
      return (await api("GET", `/trackers/${name}`)).body;
    };
    const message = expect.stringMatching(/^The credential "ci" cannot be used: .+ Enter it again under Credentials$/);
    expect(await checked("sealed")).toMatchObject({ sources: [{ error: { code: "rejected", message } }] });
    expect(await checked("open")).toMatchObject({ sources: [{ error: null }] });
    for (const path of ["/", "/trackers", "/trackers/sealed", "/trackers/sealed/edit", "/upstreams"])
      expect((await get(path)).status).toBe(200);
    expect((await api("PATCH", `/credentials/${body.id}`, { secret })).status).toBe(200);
    expect(await checked("sealed")).toMatchObject({ sources: [{ error: null }] });
  } finally {
    await app.close();
    await registry.stop();
  }
});
