import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { notifiers } from "../../../src/db/tables.ts";
import { runtimes } from "../../../src/runtimes/index.ts";
import { sources } from "../../../src/sources/index.ts";
import { FakeEngine, fakeRuntimes } from "../../support/fake-runtime.ts";
import { goodPassword, type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
beforeAll(async () => {
  app = await testApp();
  person = await app.signedIn();
});
afterAll(() => app.close());

const languages = ["en", "zh-CN,zh;q=0.9,en;q=0.1"];

test.each([
  "/account",
  "/account/password",
  "/account/tokens/new",
  "/settings",
  "/settings/sign-in-provider",
  "/settings/sign-in-provider/new",
  "/settings/audit",
  "/settings/audit?outcome=refused",
  "/notifiers",
  "/notifiers/new",
  "/credentials",
  "/credentials/new",
  "/docs",
  "/docs/notifiers",
  "/docs/credentials",
])("GET %s is a page in both languages, without anything inline", async (path) => {
  for (const language of languages) {
    const page = await person.get(path, { headers: { "accept-language": language } });
    expect(page.status).toBe(200);
    expect(page.text).toContain(language === "en" ? 'lang="en"' : 'lang="zh-CN"');
    expect(page.text).not.toMatch(/ (style|on\w+)="|\[object |>undefined|undefined</);
    expect(Buffer.byteLength(page.text)).toBeLessThan(400_000);
  }
});

test.each([
  ["/notifiers/new", "url"],
  ["/credentials/new", "secret.password"],
])("what is typed into a secret of %s can be read before it is sent", async (path, name) => {
  const { text } = await person.get(path);
  const label = `f-${name.replace(".", "-")}-label`;
  expect(text).toContain(`id="${label}"`);
  const [, rest = ""] = text.split(`name="${name}"`);
  expect(rest).toMatch(new RegExp(`^[^>]*><button[^>]* data-reveal[^>]* aria-describedby="${label}"`));
});

test.each([
  ["/notifiers/new", ["name", "url", "trigger_events", "language", "is_enabled"]],
  ["/credentials/new", ["kind", "name", "secret.username", "secret.password"]],
])("the form %s asks first for what is needed, and folds the rest", async (path, names) => {
  const { text } = await person.get(path);
  const [plain = "", folded = ""] = text.split('<details class="advanced"');
  const asked = (part: string) => [...part.matchAll(/data-field="([^"]+)"/g)].map(([, name]) => name);
  expect(asked(plain)).toEqual(names);
  expect(asked(folded)).toContain("description");
});

describe("/account", () => {
  test("renames the administrator and keeps the session", async () => {
    const refused = await person.post("/account", { username: "no spaces" });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain("Start with a letter or digit");
    expect(refused.text).toContain('value="no spaces"');
    expect((await person.post("/account", { username: "keeper" })).location).toBe("/account");
    expect((await person.get("/account")).text).toContain("Administrator keeper");
    await person.post("/account", { username: "admin" });
  });

  test("shows a new token once, and revokes it", async () => {
    const created = await person.post("/account/tokens", {
      name: "backup script",
      scope: "read",
      expires_in_days: "7",
      current_password: goodPassword,
    });
    expect(created.status).toBe(200);
    const token = /data-copy="(eyJ[^"]+)"/.exec(created.text)?.[1] ?? "";
    expect((await app.send("/api/settings", { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    const page = await person.get("/account");
    expect(page.text).toContain("backup script");
    expect(page.text).not.toContain(token.slice(-20));
    const id = /\/account\/tokens\/([\w-]+)\/revoke/.exec(page.text)?.[1] ?? "";
    expect((await person.get(`/account/tokens/${id}/revoke`, { htmx: true })).text).toStartWith("<form");
    expect((await person.post(`/account/tokens/${id}/revoke`)).location).toBe("/account");
    expect((await app.send("/api/settings", { headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
  });

  test("names a taken token at its field", async () => {
    await person.post("/account/tokens", {
      name: "twice",
      scope: "full",
      expires_in_days: "1",
      current_password: goodPassword,
    });
    const again = await person.post("/account/tokens", {
      name: "twice",
      scope: "full",
      expires_in_days: "1",
      current_password: goodPassword,
    });
    expect(again.status).toBe(422);
    expect(again.text).toContain("Another API token is already named");
  });

  test("refuses a wrong current password at its field, in the page's language", async () => {
    const wrong = await person.post(
      "/account/password",
      { current_password: "nope", new_password: "another good one" },
      { headers: { "accept-language": "zh" } },
    );
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain("<span>密码错误</span>");
    expect(wrong.text).not.toContain("another good one");
  });
});

describe("/settings", () => {
  test("says what the environment sets, and does not ask for it", async () => {
    const fixed = await testApp({ env: { BASE_URL: "http://tidemark.test", LOG_LEVEL: "warning" } });
    try {
      const someone = await fixed.signedIn();
      const page = await someone.get("/settings");
      expect(page.text).toContain("Set by the environment variable BASE_URL");
      expect(page.text).toContain("Set by the environment variable LOG_LEVEL");
      expect(page.text).not.toContain('<input class="input" type="text" id="f-base_url"');
      const values = { timezone: "Asia/Tokyo", version_history_count: "7", snapshot_history_count: "8" };
      const saved = await someone.post("/settings", {
        base_url: "http://tidemark.test",
        log_level: "warning",
        ...values,
      });
      expect(saved.location).toBe("/settings");
      expect(fixed.services.settings.current().timezone).toBe("Asia/Tokyo");
    } finally {
      await fixed.close();
    }
  });

  test("points out a base URL that is not the address in use", async () => {
    const other = await testApp();
    try {
      const someone = await other.signedIn();
      expect((await someone.get("/settings")).text).not.toContain("is not the address in use");
      await someone.api("PATCH", "/settings", { base_url: "http://elsewhere.test:8080" });
      const page = await someone.get("/settings");
      expect(page.text).toContain("The base URL is not the address in use");
      expect(page.text).toContain("http://tidemark.test");
    } finally {
      await other.close();
    }
  });

  test("asks before a base URL takes away the address in use", async () => {
    const careful = await testApp();
    try {
      const someone = await careful.signedIn();
      const values = {
        base_url: "https://elsewhere.test",
        timezone: "UTC",
        log_level: "info",
        version_history_count: "20",
        snapshot_history_count: "10",
      };
      const asked = await someone.post("/settings", values);
      expect(asked.status).toBe(422);
      expect(asked.text).toContain("You are using http://tidemark.test");
      expect(asked.text).toContain('name="_confirm_base_url"');
      expect(careful.services.settings.current().base_url).toBe("");
      expect((await someone.post("/settings", { ...values, _confirm_base_url: "on" })).status).toBe(303);
      expect(careful.services.settings.current().base_url).toBe("https://elsewhere.test");
    } finally {
      await careful.close();
    }
  });

  test.each(["/a;b", "/tïde", "/t%C3%AFde", "/a/../b"])(
    "a base URL with the path %s is refused, and signing in goes on",
    async (path) => {
      const careful = await testApp();
      try {
        const someone = await careful.signedIn();
        const answer = await someone.api("PATCH", "/settings", { base_url: `http://tidemark.test${path}` });
        expect(answer.status).toBe(422);
        const shown = await someone.get("/settings", { headers: { "accept-language": "zh" } });
        expect(shown.status).toBe(200);
        const values = {
          timezone: "UTC",
          log_level: "info",
          version_history_count: "20",
          snapshot_history_count: "10",
        };
        const form = await someone.post(
          "/settings",
          { base_url: `http://tidemark.test${path}`, ...values },
          { headers: { "accept-language": "zh" } },
        );
        expect(form.status).toBe(422);
        expect(form.text).toContain("路径不可用");
        const other = careful.browser();
        expect((await other.post("/login", { username: "admin", password: goodPassword })).location).toBe("/");
      } finally {
        await careful.close();
      }
    },
  );

  test("a base URL typed with large letters is https with all that follows from it", async () => {
    const moved = await testApp();
    try {
      const someone = await moved.signedIn();
      const saved = await someone.api("PATCH", "/settings", { base_url: "HTTPS://Tide.Example/Sub" });
      expect(saved.body).toMatchObject({ base_url: "https://tide.example/Sub" });
      const login = await moved.app.request("https://tide.example/Sub/login");
      expect(login.status).toBe(200);
      expect(login.headers.get("strict-transport-security")).toContain("max-age=31536000");
    } finally {
      await moved.close();
    }
  });

  test("a base URL with another path keeps the sign-in", async () => {
    const moved = await testApp();
    try {
      const someone = await moved.signedIn();
      const values = {
        timezone: "UTC",
        log_level: "info",
        version_history_count: "20",
        snapshot_history_count: "10",
      };
      const saved = await someone.post("/settings", { base_url: "http://tidemark.test/tide", ...values });
      expect(saved.location).toBe("/tide/settings");
      expect(saved.headers.getSetCookie().join()).toContain("Path=/tide");
      expect((await someone.get("/tide/settings")).status).toBe(200);
    } finally {
      await moved.close();
    }
  });
});

describe("/settings/audit", () => {
  test("shows who did what, and filters by outcome", async () => {
    const all = await person.get("/settings/audit");
    expect(all.text).toContain("Password changed");
    await app.browser().post("/login", { username: "admin", password: "wrong wrong wrong" });
    const failed = await person.get("/settings/audit?outcome=failed");
    expect(failed.text).toContain("Reason: wrong password");
    expect(failed.text).not.toContain(">API token added<span");
  });

  test("pages through", async () => {
    for (let index = 0; index < 60; index += 1) {
      await app.services.audit_entries.record(
        { name: "admin", address: null, request_id: null },
        { event: "tracker_checked", outcome: "ok", detail: { version: `made-up-${index}` } },
      );
    }
    const first = await person.get("/settings/audit");
    const older = /href="(\/settings\/audit\?cursor=[^"]+)"/.exec(first.text)?.[1] ?? "";
    const second = await person.get(older);
    expect(first.text).toContain("made-up-59");
    expect(second.text).toContain("made-up-0<");
    expect(second.text).toContain('href="/settings/audit"');
  });
});

describe("/notifiers", () => {
  const chat = {
    name: "Chat",
    is_enabled: "on",
    kind: "webhook",
    url: "https://hooks.example.org/services/secret-part",
    signing_secret: "0123456789abcdef",
    language: "en",
    trigger_events: ["new_release"],
  };

  test("never show the address or the signing secret again", async () => {
    const created = await person.post("/notifiers", chat);
    const path = created.location ?? "";
    const pages = ["/notifiers", path, `${path}/edit`, `${path}/delete`];
    for (const each of pages) {
      const page = await person.get(each);
      expect(page.status).toBe(200);
      expect(page.text).not.toContain("secret-part");
      expect(page.text).not.toContain("0123456789abcdef");
    }
    const refused = await person.post("/notifiers", { ...chat, name: "Chat" });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain("Another notifier is already named");
    expect(refused.text).not.toContain("secret-part");
  });

  test("remove a signing secret when asked, and keep it otherwise", async () => {
    const created = await person.post("/notifiers", { ...chat, name: "Signed" });
    const path = created.location ?? "";
    const id = path.split("/").at(-1) ?? "";
    const edit = { ...chat, name: "Signed", url: "", signing_secret: "" };
    await person.post(path, edit);
    expect((await app.services.notifications.get(id)).has_signing_secret).toBe(true);
    await person.post(path, { ...edit, _remove_signing_secret: "on" });
    expect((await app.services.notifications.get(id)).has_signing_secret).toBe(false);
  });

  test("a disabled one sends no test and says why", async () => {
    const { is_enabled: _, ...off } = chat;
    const created = await person.post("/notifiers", { ...off, name: "Off" });
    const path = created.location ?? "";
    expect((await person.get(path)).text).not.toContain("Send test");
    const tried = await person.post(`${path}/deliveries`, {}, { htmx: true });
    expect(tried.status).toBe(409);
    expect(tried.text).toStartWith("<hx-partial");
    expect(tried.text).toContain("is disabled and sends nothing");
  });

  test("say what waits, ask again while it does, and warn before it is lost", async () => {
    const created = await person.post("/notifiers", { ...chat, name: "Waiting" });
    const path = created.location ?? "";
    expect((await person.get(path)).text).not.toContain("every 5s");
    const facts = {
      tracker: "nginx",
      channel: "stable",
      channel_type: "stable" as const,
      version: "1.29.1",
      tag: "1.29.1",
      maturity: "release" as const,
      remark: null,
      previous_version: null,
      sources: ["hub"],
      url: null,
      notes: null,
      also: [],
      previous_revision: null,
      revision: null,
    };
    const { outbox } = app.services;
    await app.db.write((tx) => outbox.recordEvent(tx, { kind: "new_release", tracker_id: "t", facts }));
    const page = await person.get(path);
    expect(page.text).toContain("nginx 1.29.1 is out");
    expect(page.text).toContain('hx-trigger="every 5s"');
    expect((await person.get(`${path}/deliveries`, { htmx: true })).text).toStartWith('<div id="deliveries"');
    expect((await person.get(`${path}/delete`)).text).toContain("1 waiting message will not be sent");
  });

  test("are deleted after a question", async () => {
    const created = await person.post("/notifiers", { ...chat, name: "Gone" });
    const path = created.location ?? "";
    expect((await person.get(`${path}/delete`, { htmx: true })).text).toContain("Delete Gone?");
    expect((await person.post(`${path}/delete`)).location).toBe("/notifiers");
    expect((await person.get(path)).status).toBe(404);
  });
});

describe("/notifiers/{id}/deliveries", () => {
  test("an empty list offers only what the notifier can do", async () => {
    const notifier = { kind: "webhook", url: "https://hooks.example.org/a", language: "en" };
    const input = { name: "Empty", ...notifier, trigger_events: ["new_release"] };
    const { body } = await person.api("POST", "/notifiers", input);
    const empty = async () => (await person.get(`/notifiers/${body.id}`)).text;
    expect(await empty()).toContain("Send a test message to see");
    await person.api("PATCH", `/notifiers/${body.id}`, { is_enabled: false });
    expect(await empty()).not.toContain("Send a test");
    expect(await empty()).toContain("While it is disabled, this notifier sends nothing");
    await person.api("PATCH", `/notifiers/${body.id}`, { is_enabled: true });
    await app.db.write((tx) =>
      tx
        .update(notifiers)
        .set({ kind: "future" })
        .where(eq(notifiers.id, String(body.id))),
    );
    expect(await empty()).not.toContain("Send a test");
    expect(await empty()).toContain("New messages wait until this notifier can send");
    await person.api("DELETE", `/notifiers/${body.id}`);
  });

  test("a test message is a toast and a new row, or a reason", async () => {
    const statuses = [200, 500];
    const receiver = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () => new Response("", { status: statuses.shift() ?? 200 }),
    });
    const reachable = await testApp({ env: { OUTBOUND_ALLOW: `127.0.0.1:${receiver.port}` } });
    try {
      const someone = await reachable.signedIn();
      const created = await someone.post("/notifiers", {
        name: "Loop",
        is_enabled: "on",
        kind: "webhook",
        url: `http://127.0.0.1:${receiver.port}/`,
        language: "en",
        trigger_events: ["new_release"],
      });
      const path = created.location ?? "";
      const good = await someone.post(`${path}/deliveries`, {}, { htmx: true });
      expect(good.text).toStartWith('<div id="deliveries"');
      expect(good.text).toContain("Test message delivered (status 200)");
      const bad = await someone.post(`${path}/deliveries`, {}, { htmx: true });
      expect(bad.text).toContain("Test message not delivered");
      expect(bad.text).toContain("HTTP 500");
      const plain = await someone.post(`${path}/deliveries`);
      expect(plain.location).toBe(path);
      const page = await someone.get(path);
      expect(page.text.match(/id="delivery-/g)?.length).toBe(3);
      expect(page.text).toContain("Test message delivered (status 200)");
    } finally {
      await reachable.close();
      await receiver.stop(true);
    }
  });
});

describe("/docs", () => {
  test("are public and name every operation of the OpenAPI document", async () => {
    const stranger = app.browser();
    const document = JSON.parse((await stranger.get("/openapi.json")).text) as {
      paths: Record<string, Record<string, { operationId: string; tags: string[] }>>;
    };
    const index = (await stranger.get("/docs")).text;
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    expect(operations.length).toBeGreaterThan(20);
    for (const tag of new Set(operations.map(({ tags }) => tags[0] ?? ""))) {
      const page = await stranger.get(`/docs/${tag}`);
      expect(page.status).toBe(200);
      for (const { operationId } of operations.filter(({ tags }) => tags[0] === tag)) {
        expect(page.text).toContain(`id="${operationId}"`);
        expect(index).toContain(`/docs/${tag}#${operationId}"`);
      }
    }
  });

  test("show an example that works when its words are replaced", async () => {
    const page = (await app.browser().get("/docs/notifiers")).text;
    const example = /data-copy="([^"]*-X POST[^"]*\/api\/notifiers&#39;[^"]*)"/.exec(page)?.[1] ?? "";
    const body = /-d &#39;(.*?)&#39;$/s.exec(example)?.[1]?.replaceAll("&quot;", '"') ?? "";
    const input = {
      ...JSON.parse(body.replaceAll("&lt;", "<").replaceAll("&gt;", ">")),
      url: "https://a.example.org/",
    };
    expect((await person.api("POST", "/notifiers", input)).status).toBe(201);
  });
});

test("a new credential can only be of a kind that a source or a connection takes", async () => {
  const kinds = ({ text }: { text: string }) =>
    [...text.matchAll(/<option value="([a-z]+)"/g)].map(([, kind = ""]) => kind).toSorted();
  expect(kinds(await person.get("/credentials/new"))).toEqual(
    [...Object.keys(runtimes), ...Object.keys(sources)].sort(),
  );
  const small = await testApp({ runtimes: fakeRuntimes(new FakeEngine()) });
  try {
    const someone = await small.signedIn();
    expect(kinds(await someone.get("/credentials/new"))).toEqual(["docker", ...Object.keys(sources), "podman"].sort());
    const input = { name: "cluster", kind: "kubernetes", secret: { token: "a token" } };
    const { body } = await someone.api("POST", "/credentials", input);
    // What is there already can still be changed.
    expect((await someone.get(`/credentials/${body.id}/edit`)).text).toContain("Bearer token");
  } finally {
    await small.close();
  }
});

test("the list of credentials says what is stored in the page's language", async () => {
  const secret = { username: "ci", password: "registry-password" };
  expect((await person.api("POST", "/credentials", { name: "ci", kind: "oci", secret })).status).toBe(201);
  expect((await person.get("/credentials")).text).toContain("User name and password");
  const chinese = (await person.get("/credentials", { headers: { "accept-language": "zh" } })).text;
  expect(chinese).toContain("用户名和密码");
});

test("the examples of /docs are for the address that is asked, each time", async () => {
  for (const host of ["one.test", "o'ne.test", "two.test:8080"]) {
    const text = await (await app.app.request(`http://${host}/docs/notifiers`)).text();
    const shown = host.replace("'", "&#39;\\&#39;&#39;");
    expect(text).toContain(`curl -X POST &#39;http://${shown}/api/notifiers&#39;`);
    expect(text).not.toContain("base-url.invalid");
  }
});

test("a forgotten language is the browser's, a chosen one stays", async () => {
  const someone = app.browser();
  await someone.post("/preferences", { language: "zh", next: "/login" });
  expect((await someone.get("/login", { headers: { "accept-language": "en" } })).text).toContain('lang="zh-CN"');
  await someone.post("/login", { username: "admin", password: goodPassword });
  expect((await someone.get("/account")).text).toContain("用户设置");
});

test("a stored user name, which is not shown, need not be entered again", async () => {
  const input = { name: "private", kind: "oci", secret: { username: "robot", password: "a password of the tests" } };
  const { body } = await person.api("POST", "/credentials", input);
  const { text } = await person.get(`/credentials/${body.id}/edit`);
  const [field = ""] = /<input[^>]*name="secret.username"[^>]*>/.exec(text) ?? [];
  expect(field).toContain('placeholder="Stored. Leave blank to keep it"');
  expect(field).not.toContain("aria-required");
});
