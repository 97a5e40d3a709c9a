import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemActor } from "../../../src/auth/schema.ts";
import { type Message, plain, say } from "../../../src/messages/message.ts";
import { addImage, emptyContent, type StandIn, serve, standIn } from "../../sources/oci/stand-in-registry.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeEngine, fakeRuntimes } from "../../support/fake-runtime.ts";
import { digest } from "../../support/run-world.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let engine: FakeEngine;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
let connection: string;

const hostile = '"><script>alert(1)</script>';

beforeEach(async () => {
  engine = new FakeEngine();
  for (let count = 0; count < 3; count++) engine.add(`web-${count}`, "registry.test/web:1.2.3-alpine", digest("a"));
  for (const service of ["app", "db"]) {
    engine.add(`shop-${service}-1`, `registry.test/${service}:2.0.0`, digest("b"), { project: "shop", service });
  }
  app = await testApp({ runtimes: fakeRuntimes(engine) });
  person = await app.signedIn();
  const saved = await person.post("/connections", {
    ...{ name: "home", kind: "docker", "config.address": "fake://home", is_enabled: "true", _action: "save" },
  });
  connection = /connections\/([0-9a-f-]+)\/adopt$/.exec(saved.location ?? "")?.[1] ?? "";
});
afterEach(() => app.close());

const page = () => `/connections/${connection}/adopt`;
const tickedIn = (html: string) =>
  [...html.matchAll(/name="chosen"[^>]*value="([^"]+)" checked/g)].map(([, it]) => it ?? "");
const proposals = async () =>
  (await person.api("GET", `/runtime-connections/${connection}/adoption-proposals`)).body as never as {
    targets: { kind: string; id: string; hash: string; executor_name: string }[];
    trackers: { key: string; name: string; service_count: number }[];
    counts: Record<string, number>;
    ignored: { ignored_id: string; name: string }[];
  };
const executors = async () =>
  (await app.services.executors.list({ limit: 100 })).items.map(({ name, trigger, bindings }) => ({
    name,
    trigger,
    bindings: bindings.map(({ service, tracker, source, channel }) => [service, tracker, source, channel].join(" ")),
  }));
const trackers = async () => (await app.services.trackers.list({})).items.map(({ name }) => name);

const adopted: Awaited<ReturnType<typeof executors>> = [
  { name: "shop", trigger: "manual", bindings: ["app app image stable", "db db image stable"] },
  ...[0, 1, 2].map((count) => ({
    name: `web-${count}`,
    trigger: "manual" as const,
    bindings: ["main web image stable"],
  })),
];

describe("the page that adopts", () => {
  test("is where a new connection leads: everything that runs is there, selected, and nothing is created", async () => {
    const shown = await person.get(page());
    expect(shown.status).toBe(200);
    for (const words of [
      "Adopt what runs on home",
      "4 targets found",
      "registry.test/web:1.2.3-alpine",
      "Keeps alpine",
      "3 new trackers",
    ]) {
      expect(shown.text).toContain(words);
    }
    expect(tickedIn(shown.text)).toHaveLength(4);
    expect([await executors(), await trackers()]).toEqual([[], []]);
  });

  test("one submit creates all of it: one tracker for each image, one executor for each target", async () => {
    const chosen = tickedIn((await person.get(page())).text);
    const done = await person.post(page(), { _action: "adopt", trigger: "manual", chosen });
    expect(done.status).toBe(200);
    for (const words of ["Adopted 4 targets", "Added 4 executors and 3 trackers"]) expect(done.text).toContain(words);
    expect([await executors(), await trackers()]).toEqual([adopted, ["app", "db", "web"]]);
    const again = await person.post(page(), { _action: "adopt", chosen });
    expect(again.text).toContain("Already adopted");
    expect(await executors()).toHaveLength(4);
    const after = await person.get(page());
    for (const words of ["Nothing new to adopt", "Everything that can be updated here has an executor"]) {
      expect(after.text).toContain(words);
    }
  });

  test("two tabs that adopt at once create everything once", async () => {
    const chosen = tickedIn((await person.get(page())).text);
    const both = await Promise.all([1, 2].map(() => person.post(page(), { _action: "adopt", chosen })));
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect([await executors(), await trackers()]).toEqual([adopted, ["app", "db", "web"]]);
  });

  test("what is changed beside a target and a tracker is what is created", async () => {
    const { targets, trackers: found } = await proposals();
    const web = targets.find(({ id }) => id === "web-0");
    const key = found.find(({ name }) => name === "web")?.key;
    await person.post(page(), {
      _action: "adopt",
      trigger: "manual",
      chosen: `${web?.hash} container web-0`,
      [`executor.${web?.hash}`]: "frontend",
      [`trigger.${web?.hash}`]: "immediate",
      [`tracker.${key}`]: "site",
    });
    expect(await executors()).toEqual([
      { name: "frontend", trigger: "immediate", bindings: ["main site image stable"] },
    ]);
    expect(await trackers()).toEqual(["site"]);
    const rest = await proposals();
    expect(rest.trackers.map(({ name }) => name).toSorted()).toEqual(["app", "db", "site"]);
  });

  test("a line that is chosen beside a target is kept, and one that was not offered is refused", async () => {
    const { targets, trackers: found } = await proposals();
    const [web, shop] = ["web-0", "shop"].map((id) => targets.find((each) => each.id === id));
    const key = found.find(({ name }) => name === "web")?.key;
    const { text } = await person.get(page());
    expect(text).toContain("New majors included");
    expect(text).toContain(`name="line.${shop?.hash}.db"`);
    const chosen = [`${web?.hash} container web-0`, `${shop?.hash} compose shop`];
    const lines = { [`line.${web?.hash}.main`]: "1.2", [`line.${shop?.hash}.db`]: "9" };
    const done = await person.post(page(), { _action: "adopt", chosen, ...lines, [`tracker.${key}`]: "web" });
    for (const words of ["Adopted 1 target", "“db” cannot stay on “9”".replace(/[“”]/g, "&quot;")]) {
      expect(done.text).toContain(words);
    }
    const { items } = await app.services.trackers.list({});
    const rules = items.flatMap(({ sources }) => sources.flatMap(({ channels }) => channels));
    expect(rules.map(({ include_pattern }) => include_pattern)).toEqual([String.raw`^v?1\.2(\.\d+)+-alpine$`]);
  });

  test("marks what is stopped", async () => {
    expect((await person.get(page())).text).not.toContain("Stopped");
    for (const container of engine.containers.values()) if (container.name === "web-1") container.running = false;
    expect((await person.get(page())).text).toContain("Stopped");
  });

  test("a target that changed or went after it was shown is reported, and the others are adopted", async () => {
    const chosen = tickedIn((await person.get(page())).text);
    engine.add("web-0", "registry.test/web:3.0.0-bookworm", digest("c"));
    engine.containers.delete("web-1");
    const done = await person.post(page(), { _action: "adopt", chosen });
    for (const words of [
      "Adopted 2 targets",
      "2 not adopted",
      "It changed after it was shown",
      "It no longer runs here",
    ]) {
      expect(done.text).toContain(words);
    }
    expect((await executors()).map(({ name }) => name)).toEqual(["shop", "web-2"]);
  });

  test("one that cannot be created loses nothing: its reason is told, its trackers are not left over", async () => {
    const { targets } = await proposals();
    const web = targets.find(({ id }) => id === "web-0");
    const shop = targets.find(({ id }) => id === "shop");
    const done = await person.post(page(), {
      _action: "adopt",
      chosen: [`${web?.hash} container web-0`, `${shop?.hash} compose shop`],
      [`executor.${shop?.hash}`]: "web-0",
    });
    for (const words of ["Adopted 1 target", "1 not adopted", "web-0"]) expect(done.text).toContain(words);
    expect(await trackers()).toEqual(["web"]);
  });

  test("what all targets of a group warn of is said once, in its heading; what a single one does, in its row", async () => {
    engine.warnings = [{ code: "odd", message: plain("It is odd") }];
    const said = async () => {
      const headings = (await person.get(page())).text.split('class="group-heading"').slice(1);
      return headings.map((group) => group.split("</tr>").map((row) => row.split("It is odd").length - 1));
    };
    const [projects, containers] = await said();
    expect([projects, containers?.slice(0, 4)]).toEqual([
      [0, 1, 0],
      [1, 0, 0, 0],
    ]);
    engine.add("blog-app-1", "registry.test/app:1.0.0", digest("e"), { project: "blog", service: "app" });
    expect((await said())[0]).toEqual([1, 0, 0, 0]);
  });

  test("filters show, and so adopt, only what they match", async () => {
    const filtered = await person.get(`${page()}?search=web`);
    expect(tickedIn(filtered.text)).toHaveLength(3);
    expect(tickedIn((await person.get(`${page()}?select=none`)).text)).toEqual([]);
  });

  test("ignored stays ignored until that is undone; a second visit shows only what is new", async () => {
    const { targets } = await proposals();
    const chosen = targets.filter(({ id }) => id !== "shop").map(({ hash, kind, id }) => `${hash} ${kind} ${id}`);
    const ignored = await person.post(page(), { _action: "ignore", chosen });
    expect([ignored.status, ignored.location]).toEqual([303, page()]);
    const shown = await person.get(page());
    expect(tickedIn(shown.text)).toHaveLength(1);
    expect(shown.text).toContain("3 ignored");
    engine.add("new", "registry.test/new:1.0", digest("d"));
    expect((await proposals()).targets.map(({ id }) => id).toSorted()).toEqual(["new", "shop"]);
    const [first] = (await proposals()).ignored;
    const undone = await person.post(`/connections/${connection}/ignored-targets/${first?.ignored_id}/delete`);
    expect(undone.location).toBe(page());
    expect((await proposals()).targets.map(({ id }) => id)).toContain(first?.name ?? "");
  });

  test("where all of it is ignored, nothing says that nothing runs", async () => {
    const { targets } = await proposals();
    const chosen = targets.map(({ hash, kind, id }) => `${hash} ${kind} ${id}`);
    await person.post(page(), { _action: "ignore", chosen: chosen.slice(1) });
    await person.post(page(), { _action: "adopt", chosen: chosen.slice(0, 1) });
    expect((await person.get(page())).text).toContain("has an executor or is ignored");
    const { items } = await app.services.executors.list({});
    for (const { id } of items) await app.services.executors.remove(systemActor, id);
    await person.post(page(), { _action: "ignore", chosen });
    expect((await person.get(page())).text).toContain("Everything that can be updated here is ignored");
  });

  test("finds an ignored target, and one that cannot be adopted, by its name once there are many", async () => {
    const ignore = (...ids: string[]) =>
      person.api("POST", `/runtime-connections/${connection}/ignored-targets`, {
        targets: ids.map((id) => ({ kind: "container", id })),
      });
    const more = Array.from({ length: 9 }, (_, count) => `More-${count}`);
    for (const name of more) engine.add(name, "registry.test/more:1.0.0", digest("d"));
    await ignore(...more.slice(1));
    expect((await person.get(page())).text).not.toContain("data-find=");
    await ignore("More-0");
    const { text } = await person.get(page());
    const part = text.slice(text.indexOf('id="adopt-ignored"'));
    expect(part).toContain('aria-label="Find a name" data-find="#adopt-ignored"');
    expect(part.match(/<li data-found="more-\d">/g)).toHaveLength(9);
    engine.refusals = [{ code: "own_container", message: say("executors.no_release_status") }];
    expect((await person.get(page())).text).not.toContain('data-find="#adopt-refused"');
    for (let count = 0; count < 5; count++) engine.add(`last-${count}`, "registry.test/last:1.0.0", digest("e"));
    expect((await person.get(page())).text).toContain('data-find="#adopt-refused"');
  });

  test("says why something cannot be adopted", async () => {
    engine.refusals = [{ code: "own_container", message: say("executors.no_release_status") }];
    const shown = await person.get(page());
    expect(shown.text).toContain("4 cannot be adopted");
    expect(tickedIn(shown.text)).toEqual([]);
  });

  test("the connection counts what this page offers, and nothing that cannot be adopted", async () => {
    engine.add("sealed", `registry.test/sealed@${digest("c")}`, digest("c"));
    const targets = async () => (await person.get(`/connections/${connection}/targets`)).text;
    expect(await targets()).toContain("Adopt 4 targets");
    await person.post(page(), { _action: "adopt", chosen: tickedIn((await person.get(page())).text) });
    expect(await targets()).not.toContain("no executor yet");
    const { text } = await person.get(page());
    expect(text).toContain("4 already adopted");
    expect(text).not.toContain("0 targets");
  });

  test("the overview says in one line what has no executor, however many connections it is on", async () => {
    const [one = ""] = tickedIn((await person.get(page())).text);
    await person.post(page(), { _action: "adopt", chosen: one });
    const linesIn = async () => [...(await person.get("/")).text.matchAll(/[^>]*no executor yet/g)].map(String);
    await person.get(page());
    const [own = "", ...none] = await linesIn();
    expect(none).toEqual([]);
    expect(own).toMatch(/^\d+ targets on home have no executor yet$/);
    const saved = await person.post("/connections", {
      ...{ name: "attic", kind: "docker", "config.address": "fake://attic", is_enabled: "true", _action: "save" },
    });
    await person.get(saved.location ?? "");
    const lines = await linesIn();
    expect(lines).toEqual([expect.stringMatching(/^\d+ targets on 2 connections have no executor yet$/)]);
  });

  test("the connection shows the first of many targets, then all", async () => {
    for (let count = 0; count < 100; count++) engine.add(`many-${count}`, "registry.test/app:1.0.0", digest("e"));
    const targets = `/connections/${connection}/targets`;
    const rowsIn = (html: string) => [...html.matchAll(/<tr id="target-/g)].length;
    const first = await person.get(targets, { htmx: true });
    expect([rowsIn(first.text), first.text.includes("Show all targets")]).toEqual([60, true]);
    expect(first.text).toContain("104 targets, 104 supported");
    expect(first.text).not.toContain("2 containers of these groups");
    const whole = await person.get(`${targets}?show=all`, { htmx: true });
    expect([rowsIn(whole.text), whole.text.includes("Show all targets")]).toEqual([106, false]);
    expect(whole.text).toContain("2 containers of these groups");
  });

  test("an engine that does not answer is said, with a way to try again, and nothing is created", async () => {
    const chosen = tickedIn((await person.get(page())).text);
    engine.isUnreachable = true;
    const shown = await person.get(page());
    expect(shown.status).toBe(200);
    for (const words of ["The targets could not be listed", "connection refused", "Try again"]) {
      expect(shown.text).toContain(words);
    }
    expect(shown.text).not.toContain("Refresh");
    const refused = await person.post(page(), { _action: "adopt", chosen });
    expect(refused.status).toBe(424);
    expect(refused.text).toContain("connection refused");
    expect(await executors()).toEqual([]);
  });

  test("hostile names and nonsense do no harm", async () => {
    engine.add(hostile, "registry.test/web:1.2.3-alpine", digest("a"));
    const shown = await person.get(page());
    expect(shown.text).not.toContain("<script>alert");
    expect(
      (await person.post(page(), { _action: "adopt", chosen: ["", "x", "a b", `${"f".repeat(32)} no such`] })).status,
    ).toBe(200);
    expect((await person.post(page(), { _action: "adopt" })).status).toBe(422);
    const wrong = await person.post(page(), { _action: "adopt", trigger: "never", chosen: "a container web-0" });
    expect(wrong.status).toBe(422);
    expect(await executors()).toEqual([]);
  });

  test("nothing that runs, and a disabled connection", async () => {
    engine.containers.clear();
    expect((await person.get(page())).text).toContain("Nothing that Tidemark can update runs here");
    await person.api("PATCH", `/runtime-connections/${connection}`, { is_enabled: false });
    expect((await person.get(page())).text).toContain("This connection is disabled");
  });

  test("versions fill in while the page is open", async () => {
    const { text } = await person.get(page());
    expect(text).toContain("/adopt/newest?seen=0");
    const part = await person.get(`${page()}/newest?seen=0`, { htmx: true });
    expect(part.status).toBe(200);
    expect(part.text).not.toContain("<html");
  });

  test("three hundred containers are shown and adopted", async () => {
    for (let count = 0; count < 300; count++)
      engine.add(`many-${count}`, `registry.test/app-${count % 9}:1.0.${count % 3}`, digest("e"));
    const first = await person.get(page());
    expect(first.text).toContain("The first 60 of 304 are shown");
    expect(tickedIn(first.text)).toHaveLength(60);
    expect(first.text).toContain(`formaction="${page()}?show=all"`);
    expect(first.text).toContain("Show 300 targets");
    const shown = await person.get(`${page()}?show=all`);
    expect(shown.text).toContain("The first 300 of 304 are shown");
    expect(shown.text).not.toContain("Show 300 targets");
    const done = await person.post(page(), { _action: "adopt", chosen: tickedIn(shown.text) });
    expect(done.text).toContain("Adopted 300 targets");
  }, 120_000);

  test("what was entered stays when more targets are shown, and when nothing could be adopted", async () => {
    for (let count = 0; count < 80; count++) engine.add(`many-${count}`, "registry.test/app:1.0.0", digest("e"));
    const { targets, trackers: found } = await proposals();
    const [web, other] = ["web-0", "web-1"].map((id) => targets.find((each) => each.id === id));
    const key = found.find(({ name }) => name === "web")?.key;
    const shown = (await person.get(page())).text;
    const names = [...shown.matchAll(/name="(executor\.[^"]+)"/g)].map(([, name]) => name ?? "");
    const entered = {
      ...Object.fromEntries(names.map((name) => [name, "as proposed"])),
      [`executor.${web?.hash}`]: 'front"end',
      [`trigger.${web?.hash}`]: "immediate",
      [`line.${web?.hash}.main`]: "1.2",
      [`tracker.${key}`]: "site",
      trigger: "immediate",
    };
    const chosen = tickedIn(shown).filter((value) => !value.includes(other?.hash ?? ""));
    const whole = await person.post(`${page()}?show=all`, { ...entered, _action: "show", chosen });
    expect(whole.status).toBe(200);
    expect(whole.text).toContain('name="shown" value="84"');
    const holds = (text: string) => {
      for (const words of [
        `name="executor.${web?.hash}" value="front&quot;end"`,
        `name="tracker.${key}" value="site"`,
        '<option value="1.2" selected="">',
      ]) {
        expect(text).toContain(words);
      }
      // Of the target, and of all.
      expect(text.split('<option value="immediate" selected="">')).toHaveLength(3);
    };
    holds(whole.text);
    // Those that were not shown before are as proposed.
    expect(tickedIn(whole.text)).toHaveLength(83);
    expect(tickedIn(whole.text).join()).not.toContain(other?.hash ?? "none");
    expect(await executors()).toEqual([]);

    engine.isUnreachable = true;
    const failed = await person.post(`${page()}?show=all`, { ...entered, _action: "adopt", chosen });
    expect(failed.status).toBe(424);
    holds(failed.text);
    const swapped = await person.post(`${page()}?show=all`, { ...entered, _action: "adopt", chosen }, { htmx: true });
    expect(swapped.status).toBe(422);
    engine.isUnreachable = false;
    const none = await person.post(page(), { ...entered, _action: "adopt" });
    expect(none.status).toBe(422);
    holds(none.text);
  });

  test("speaks Chinese", async () => {
    await person.post("/preferences", { language: "zh", next: page() });
    expect((await person.get(page())).text).toContain("采用“home”上运行的目标");
  });
});

describe("a registry that uses http, on a runtime that does not tell", () => {
  const names = ["acme/front", "acme/store"];
  const content = emptyContent();
  for (const tag of ["1.0.0", "1.1.0"]) addImage(content, tag, { created: "2026-01-04T08:00:00Z" });
  let registry: StandIn;
  beforeEach(() => {
    registry = standIn((request, url) => {
      const name = names.find((each) => url.pathname.startsWith(`/v2/${each}/`)) ?? "none";
      return serve(content, name, request, url);
    });
    engine.containers.clear();
    for (const name of names) engine.add(name.replace("/", "-"), `${registry.host}/${name}:1.0.0`, digest("a"));
  });
  afterEach(() => registry.stop());

  /** By the name of its image, once the registry has answered. */
  const newest = () =>
    eventually("the registry's answers", async () => {
      const { trackers: found } = (await proposals()) as never as {
        trackers: { watches: string; newest: { state: string; tag: string | null; message_data: Message | null } }[];
      };
      if (found.some(({ newest: { state } }) => state === "pending")) return null;
      return new Map(found.map((each) => [each.watches.split("/").at(-1), each.newest]));
    });

  test("is told with what to set, and then all of its images are followed", async () => {
    const image = `http://${registry.host}/acme/front`;
    expect((await newest()).get("front")?.message_data).toEqual(
      say("adoption.registry_over_http", { registry: registry.host, image }),
    );
    const { text } = await person.get(page());
    expect(text).not.toContain("Unknown");
    // A row shows its beginning.
    expect(text).toMatch(/title="[^"]+uses http, not https/);
    const [, link = ""] = /href="(\/trackers\/new\?image=[^"]+front[^"]*)"/.exec(text) ?? [];
    const form = await person.get(link);
    expect(form.text).toContain(`value="${image}"`);
    const given = { format: "compose", text: JSON.stringify({ services: { main: { image: `${image}:1.0.0` } } }) };
    const { body } = await person.api("POST", "/tracker-proposals", given);
    const [proposal] = (body as never as { proposals: { tracker: unknown }[] }).proposals;
    expect((await person.api("POST", "/trackers", proposal?.tracker)).status).toBe(201);
    await app.services.scheduler.tick();
    await app.services.scheduler.idle();
    const found = await newest();
    expect([...found].map(([name, { state, tag }]) => [name, state, tag])).toEqual([
      ["front", "known", "1.1.0"],
      ["store", "known", "1.1.0"],
    ]);
    // As far behind by a tracker that exists as by one that would be created.
    const { targets } = (await proposals()) as never as { targets: { services: { behind: unknown }[] }[] };
    const minor = expect.objectContaining({ releases: 1, steps: { major: 0, minor: 1, patch: 0 }, is_at_least: false });
    expect(targets.flatMap(({ services }) => services.map(({ behind }) => behind))).toEqual([minor, minor]);
    await person.post(page(), { _action: "adopt", chosen: tickedIn((await person.get(page())).text) });
    expect(await trackers()).toEqual(["front", "store"]);
  });
});

describe("the same by the API", () => {
  const adoptions = () => `/runtime-connections/${connection}/adoptions`;

  test("creates exactly what the form creates", async () => {
    const { targets } = await proposals();
    const { status, body } = await person.api("POST", adoptions(), {
      targets: targets.map(({ kind, id, hash }) => ({ kind, id, hash })),
    });
    expect([status, (body as never as { trackers: string[] }).trackers?.toSorted()]).toEqual([
      200,
      ["app", "db", "web"],
    ]);
    expect(await executors()).toEqual(adopted);
    const audited = (await app.services.audit_entries.list({ limit: 100 })).items.map(({ event }) => event);
    expect(audited.filter((event) => event === "executor_created")).toHaveLength(4);
    expect(audited.filter((event) => event === "tracker_created")).toHaveLength(3);
  });

  test("ignores and offers again, each time audited; unknown ones are 404", async () => {
    const ignored = `/runtime-connections/${connection}/ignored-targets`;
    const one = { targets: [{ kind: "container", id: "web-0" }] };
    const first = await person.api("POST", ignored, one);
    const again = await person.api("POST", ignored, one);
    expect(again.body).toEqual(first.body);
    const { items } = first.body as never as { items: { id: string }[] };
    expect((await person.api("DELETE", `${ignored}/${items[0]?.id}`)).status).toBe(204);
    expect((await person.api("DELETE", `${ignored}/${items[0]?.id}`)).status).toBe(404);
    const events = (await app.services.audit_entries.list({})).items.map(({ event }) => event);
    expect(events.filter((event) => /ignored/.test(event))).toEqual(["target_unignored", "targets_ignored"]);
    const { text } = await person.get("/settings/audit");
    expect(text).toContain("Target: web-0 (Container)");
    expect(text).toContain("Targets: web-0 (Container)");
  });

  test("is refused for nonsense, an unknown connection, and an engine that is gone", async () => {
    expect((await person.api("POST", adoptions(), { targets: [] })).status).toBe(422);
    expect((await person.api("POST", adoptions(), { targets: [{ kind: "container", id: "web-0" }] })).status).toBe(422);
    expect((await person.api("GET", "/runtime-connections/nowhere/adoption-proposals")).status).toBe(404);
    expect((await person.api("GET", `/runtime-connections/${connection}/adoption-proposals?limit=0`)).status).toBe(422);
    engine.isUnreachable = true;
    expect((await person.api("GET", `/runtime-connections/${connection}/adoption-proposals`)).status).toBe(424);
  });
});
