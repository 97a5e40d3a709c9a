import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { connections } from "../../../src/db/tables.ts";
import { type Message, say, told } from "../../../src/messages/message.ts";
import { adviceOn } from "../../../templates/connections/advice.ts";
import { texts } from "../../../templates/texts/texts.ts";
import { addSurroundings } from "../../support/surroundings.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
beforeAll(async () => {
  app = await testApp();
  person = await app.signedIn();
});
afterAll(() => app.close());

const form = {
  kind: "docker",
  is_enabled: "on",
  "config.address": "/nowhere/docker.sock",
  "config.tls_verification": "on",
};

async function create(name: string, changes: Record<string, string> = {}): Promise<string> {
  const address = `/nowhere/${name}/docker.sock`;
  const answer = await person.post("/connections", { ...form, name, "config.address": address, ...changes });
  expect(answer.status).toBe(303);
  return answer.location ?? "";
}

test("an empty list says what connections are for and how to make the first", async () => {
  const page = await person.get("/connections");
  expect(page.text).toContain("No connections yet");
  expect(page.text).toContain('href="/connections/new"');
});

test("without one, the empty list of executors offers it first", async () => {
  const mainIn = (text: string) => text.slice(text.indexOf("<main"), text.indexOf("</main"));
  const before = mainIn((await person.get("/executors")).text);
  expect(before).toContain('href="/connections/new"');
  expect(before).toContain("Add a connection to an engine, a cluster or Portainer first.");
  expect(before).not.toContain("/executors/new");
  const chinese = await person.get("/executors", { headers: { "accept-language": "zh" } });
  expect(mainIn(chinese.text)).toContain("请先添加指向引擎、集群或 Portainer 的连接。");
  await create("yard");
  const after = mainIn((await person.get("/executors")).text);
  expect(after).toContain('href="/executors/new"');
  expect(after).not.toContain("/connections/new");
});

test.each([
  ["docker", "unix:///var/run/docker.sock", "Podman"],
  ["podman", "unix:///run/podman/podman.sock", "docker.sock"],
])("what a blank address means is told for %s alone, in Chinese too", async (kind, address, other) => {
  const { text } = await person.post(
    "/connections",
    { ...form, kind, "config.address": "", _action: "redraw" },
    { headers: { "accept-language": "zh" } },
  );
  const help = /<p class="help" id="f-config-address-help">(.*?)<\/p>/.exec(text)?.[1] ?? text;
  expect(help).toContain(address);
  expect(help).not.toContain(other);
});

test("a new connection is tested at once, and its page says what came of it", async () => {
  const path = await create("attic");
  const page = await person.get(path);
  expect(page.text).toContain("Unreachable");
  expect(page.text).toContain("Added attic, but could not connect");
  expect((await person.get("/connections")).text).toContain("/nowhere/attic/docker.sock");
});

test("a failed test gives no general advice beside what its cause says to do", async () => {
  const page = await person.get(await create("porch"));
  expect(page.text).toContain("mount the socket into it");
  expect(page.text).not.toContain("this machine can reach it");
});

test.each([
  ["rejected", say("engine.is_podman", { version: "5.4.2" }), "as the connection", "Check the address"],
  [
    "unauthorized",
    say("engine.requests_blocked", { requests: ["POST /a"] }),
    "at the socket proxy",
    "Check the credential",
  ],
  ["unreachable", say("net.destination_blocked", { entry: "nas.lan:2375" }), "to OUTBOUND_ALLOW", "can reach it"],
  [
    "rejected",
    say("engine.podman_too_old", { version: "3.4", oldest: "4.0" }),
    "update the engine",
    "Check the address",
  ],
  [
    "rejected",
    say("engine.api_not_offered", { min: "1.24", max: "1.41", wanted: "1.45" }),
    "enter a supported version",
    "Check the address",
  ],
  ["unreachable", say("net.name_unresolved", { host: "nas.lan" }), "the DNS of this machine", "can reach it"],
])("nor beside a failure that is %s and says itself what to do", async (code, message, own, general) => {
  const name = `gate-${message.code.replaceAll(/\W/g, "-")}`;
  const path = await create(name);
  const last_check = { ok: false, code, ...told(message), version: null, api_version: null, platform: null };
  const checked = { ...last_check, warnings: [], checked_at: app.clock.now() };
  await app.db.write((tx) => tx.update(connections).set({ last_check: checked }).where(eq(connections.name, name)));
  const { text } = await person.get(path);
  const banner = /<div class="banner failed".*?<\/section>/s.exec(text)?.[0] ?? "";
  expect(banner).toContain(own);
  expect(banner).not.toContain(general);
});

const unanswered = (cause: Message) => say("engine.no_answer", { request: "GET /version", cause });
test.each([
  ["unreachable", unanswered(say("net.certificate_expired")), "Renew the certificate"],
  ["unreachable", unanswered(say("net.certificate_not_yet_valid")), "Check the clocks"],
  ["unreachable", unanswered(say("net.certificate_untrusted")), "Add the CA certificate"],
  ["unreachable", unanswered(say("net.connection_refused")), "Check that it is running"],
])("a test that is %s because of %j advises its own next step", (code, message, expected) => {
  const advice = adviceOn({ code, message_data: message });
  expect(advice === null ? "" : texts({ language: "en" }).connections.next_steps[advice]).toStartWith(expected);
});

test("a new connection is named like its kind until somebody names it, and has one fold", async () => {
  const nameIn = (html: string) => /id="f-name" name="name" value="([^"]*)"/.exec(html)?.[1];
  const { text } = await person.get("/connections/new");
  expect(nameIn(text)).toBe("Docker Engine");
  expect(text.match(/<details class="advanced"/g)).toHaveLength(1);
  const redraw = async (values: Record<string, string>) =>
    nameIn((await person.post("/connections", { ...form, ...values, _action: "redraw" })).text);
  expect(await redraw({ kind: "podman", name: "Docker Engine" })).toBe("Podman");
  expect(await redraw({ kind: "podman", name: "cellar engine" })).toBe("cellar engine");
  const chinese = await person.get("/connections/new", { headers: { "accept-language": "zh" } });
  expect(nameIn(chinese.text)).toBe("Docker 引擎");
  expect(await redraw({ kind: "podman", name: "Docker 引擎" })).toBe("Podman");
  for (const name of ["Docker Engine", "Docker Engine 2"]) await create(name);
  expect(nameIn((await person.get("/connections/new")).text)).toBe("Docker Engine 3");
});

test("all credentials of the kind can be chosen, however many there are", async () => {
  const secret = { username: "u", password: "p" };
  for (let number = 100; number < 201; number += 1) {
    const { status } = await person.api("POST", "/credentials", { name: `engine-${number}`, kind: "podman", secret });
    expect(status).toBe(201);
  }
  expect((await person.get("/connections/new?kind=podman")).text).toContain("engine-200");
});

test("testing again by htmx answers with the part alone, a toast beside it", async () => {
  const path = await create("cellar");
  const answer = await person.post(`${path}/checks`, {}, { htmx: true });
  expect(answer.text).toStartWith('<section id="connection-check"');
  expect(answer.text).toContain('hx-target="#toasts"');
  expect((await person.post(`${path}/checks`)).location).toBe(path);
});

test("after a test, what failed to load before is loaded again, so that no former reason stays", async () => {
  const path = await create("boathouse");
  const { headers } = await person.post(`${path}/checks`, {}, { htmx: true });
  const event = headers.get("hx-trigger");
  for (const part of ["targets", "images"]) {
    const { text } = await person.get(`${path}/${part}`, { htmx: true });
    const again = new RegExp(`<a[^>]*hx-get="${path}/${part}"[^>]*>`).exec(text)?.[0];
    expect(again).toContain(`hx-trigger="click, ${event} from:body"`);
  }
});

test("an open page keeps the last test's result up to date, without its button", async () => {
  const path = await create("west-wing");
  const { text } = await person.get(path);
  const kept = /id="connection-state"[^>]* hx-select-oob="([^"]*)"/.exec(text)?.[1]?.split(",") ?? [];
  expect(kept).toContain("#connection-checked:outerMorph");
  const result = text.slice(text.indexOf('id="connection-checked"'), text.indexOf('id="targets"'));
  expect(result.slice(0, result.indexOf("</section>"))).not.toContain("<button");
  expect(text.match(/id="connection-checked"/g)).toHaveLength(1);
});

test("targets that cannot be read say why, in the page and as a part of it", async () => {
  const path = await create("garage");
  expect((await person.get(`${path}/targets`, { htmx: true })).text).toStartWith('<section id="targets"');
  const whole = await person.get(`${path}/targets`);
  expect(whole.text).toStartWith("<!doctype html>");
  expect(whole.text).toContain("The targets could not be listed");
});

test("why they cannot be read is told once, where the last test has told it", async () => {
  const path = await create("cave");
  const tested = (await person.get(`${path}/targets`, { htmx: true })).text.split("</section>")[0];
  expect(tested).toContain("The reason is under “Last test”");
  expect(tested).not.toContain("the socket does not exist");
  await app.db.write((tx) => tx.update(connections).set({ last_check: null }).where(eq(connections.name, "cave")));
  const untested = (await person.get(`${path}/targets`, { htmx: true })).text.split("</section>")[0];
  expect(untested).toContain("the socket does not exist");
});

test("the heading, the row and the filter of a connection tell the same", async () => {
  const path = await create("hall");
  const stateIn = (html: string, from: string) =>
    /<span class="state (\w+)[^>]*>.*?<span>([^<]*)/s.exec(html.slice(html.indexOf(from)))?.slice(1);
  const facts = async (changes: Partial<typeof connections.$inferInsert>) => {
    await app.db.write((tx) => tx.update(connections).set(changes).where(eq(connections.name, "hall")));
    const found = [];
    for (const state of ["ok", "failing", "unknown"]) {
      const { text } = await person.get(`/connections?state=${state}`);
      if (text.includes(`href="${path}"`)) found.push(state, stateIn(text, `href="${path}"`));
    }
    return [...found, stateIn((await person.get(path)).text, 'id="connection-state"')];
  };
  const never = { last_check: null, seen_at: null, missed_looks: 0, missed_since: null, next_look_at: null };
  const unknown = ["unknown", "Not checked yet"];
  expect(await facts(never)).toEqual(["unknown", unknown, unknown]);
  const overdue = ["unknown", "Not checked recently"];
  expect(await facts({ next_look_at: app.clock.now() - 3_600_000 })).toEqual(["unknown", overdue, overdue]);
  const silent = { ok: false, code: "unreachable", ...told(say("connections.silent", { seconds: 8 })) };
  const last_check = { ...silent, version: null, api_version: null, platform: null, warnings: [] };
  const at = app.clock.now() - 10_000;
  const failing = ["failed", "Unreachable"];
  const tested = { ...never, last_check: { ...last_check, checked_at: at }, seen_at: at - 10_000 };
  expect(await facts(tested)).toEqual(["failing", failing, failing]);
  // "Just now" would contradict it.
  expect((await person.get(path)).text).toMatch(/id="connection-seen"><time [^>]*>5\sJan,\s[\d:]+</);
  const connected = ["current", "Connected"];
  expect(await facts({ seen_at: at + 1 })).toEqual(["ok", connected, connected]);
});

test("what the list of targets finds of a connection is told at once on the open page", async () => {
  const path = await create("cabin");
  const { text } = await person.get(`${path}/targets`, { htmx: true });
  const targets = [...text.matchAll(/hx-target="(#connection-[a-z]+)"/g)].map(([, target]) => target);
  expect(targets).toEqual(["#connection-state", "#connection-reach", "#connection-checked", "#connection-seen"]);
});

test("a second connection to one address is refused in the form, which keeps what was entered", async () => {
  await create("pantry");
  const sent = { ...form, name: "larder", "config.address": "/nowhere/pantry/docker.sock" };
  for (const [language, said] of [
    ["en", "The connection &quot;pantry&quot; already reaches the same targets."],
    ["zh", "连接“pantry”已能访问相同的目标"],
  ] as const) {
    const answer = await person.post("/connections", sent, { headers: { "accept-language": language } });
    expect([answer.status, answer.text.includes(said)]).toEqual([409, true]);
    expect(answer.text).toContain('value="/nowhere/pantry/docker.sock"');
  }
  const { status, body } = await person.api("POST", "/runtime-connections", {
    ...{ name: "larder", kind: "docker", config: { address: "unix:///nowhere/pantry/docker.sock" } },
  });
  expect([status, body]).toMatchObject([409, { error: { code: "place_taken" } }]);
});

test("a disabled connection says so plainly, discovers nothing and is enabled by a button", async () => {
  const path = await create("office", { is_enabled: "" });
  const page = await person.get(path);
  expect(page.text).toContain("This connection is disabled");
  expect(page.text).not.toContain(`${path}/targets`);
  await person.post(`${path}/enable`);
  expect((await person.get(path)).text).not.toContain("This connection is disabled");
});

test("an unverified tcp address is warned of while it is typed, before anything is stored", async () => {
  const answer = await person.post("/connections", {
    _action: "redraw",
    name: "rack",
    kind: "docker",
    "config.address": "tcp://engine.example:2375",
  });
  expect(answer.status).toBe(200);
  expect(answer.text).toContain("reached over plain TCP");
  expect(answer.text).toContain('value="rack"');
  expect((await person.get("/connections")).text).not.toContain("engine.example");
});

test("a connection in use is not deleted, and its users are named; a free one is", async () => {
  await addSurroundings(app);
  await person.api("POST", "/executors", {
    name: "website",
    connection_id: "connection-1",
    target: { kind: "container", id: "web" },
    bindings: [{ tracker: "app", source: "main", channel: "stable" }],
    trigger: "manual",
  });
  const asked = (await person.get("/connections/connection-1/delete", { htmx: true })).text;
  expect(asked).toContain("website");
  expect(asked).not.toContain('type="submit"');
  const refused = await person.post("/connections/connection-1/delete");
  expect(refused.status).toBe(409);
  expect(refused.text).toContain("executor &quot;website&quot;");
  const free = await create("shed");
  expect((await person.post(`${free}/delete`)).location).toBe("/connections");
  expect((await person.get(free)).status).toBe(404);
});

test("every page of a connection is complete in Chinese, without anything inline", async () => {
  const path = await create("belfry");
  for (const address of [
    "/connections",
    "/connections/new",
    path,
    `${path}/targets`,
    `${path}/edit`,
    `${path}/delete`,
  ]) {
    const page = await person.get(address, { headers: { "accept-language": "zh" } });
    expect(page.status).toBe(200);
    expect(page.text).toContain('lang="zh-CN"');
    expect(page.text).not.toMatch(/ (style|on\w+)="|\[object |>undefined|undefined</);
  }
});
