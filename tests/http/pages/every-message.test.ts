import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  audit_entries,
  connections,
  deliveries,
  delivery_attempts,
  executor_bindings,
  executors,
  releases,
  run_steps,
  runs,
  snapshots,
  tracker_sources,
} from "../../../src/db/tables.ts";
import { PluginError } from "../../../src/errors.ts";
import { tellers } from "../../../src/messages/languages.ts";
import { type Message, say, told, toldAs, toText } from "../../../src/messages/message.ts";
import { everyMessage } from "../../support/every-message.ts";
import { FakeEngine, fakeRuntimes } from "../../support/fake-runtime.ts";
import { digest } from "../../support/run-world.ts";
import { addSurroundings } from "../../support/surroundings.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

/** Latin words in a row of which the second is no name. Commands and headers stand in quotes or backticks. */
function englishIn(text: string): readonly string[] {
  const own = text.replaceAll(/“[^”]*”|`[^`]*`|openid email profile/g, "“”");
  return own.match(/[A-Za-z][A-Za-z']*[ ,;]+[a-z][a-z']+[^“”\n]{0,60}/g) ?? [];
}

const catalogue = everyMessage();
const first = [...catalogue.values()].flatMap(([message]) => (message === undefined ? [] : [message]));
/** All that can be said, at once. */
const everything = say("phrases.joined", { items: first });

describe("every sentence of the catalogue", () => {
  test("has values with which it can be said", () => {
    expect([...catalogue].flatMap(([code, variants]) => (variants.length === 0 ? [code] : []))).toEqual([]);
  });

  test("is Chinese on a Chinese page, in each of its branches", () => {
    const found = [...catalogue].flatMap(([code, variants]) =>
      variants.flatMap((message) => englishIn(tellers.zh(message)).map((words) => `${code}: ${words}`)),
    );
    expect(found).toEqual([]);
  });
});

/** What a page shows or reads aloud, without what is code. */
function shownIn(html: string): string {
  const body = html.replaceAll(/<(script|style|code|pre|textarea)\b.*?<\/\1>/gs, " ");
  const attributes = [...body.matchAll(/ (?:title|aria-label|alt|data-lost|data-refused)="([^"]*)"/g)];
  return [body.replaceAll(/<[^>]*>/g, "\n"), ...attributes.map(([, text = ""]) => text)]
    .join("\n")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'");
}

/** Where a page says what the product has to say: without the sentence, it would not be looked at here. */
const places = [
  "/",
  ..."/connections /connections/connection-1 /connections/connection-1/adopt /connections/connection-1/images /connections/connection-1/targets".split(
    " ",
  ),
  ..."/executors/e /executors/e/edit /executors/e/plan /executors/e/run".split(" "),
  ..."/executors/e/snapshots/p/diff /executors/e/snapshots/p/restore /executors/new /notifiers/n".split(" "),
  ..."/runs /runs/r /runs/r/parts /runs/w /runs/w/approve /runs/w/parts /runs/w/refuse".split(" "),
  ..."/settings/audit /trackers/app /trackers/app/notes?to=1.1".split(" "),
  "POST /executors",
];

/** What is there, by the part of a path that it follows. */
type Ids = Readonly<Record<string, readonly string[]>>;

describe("every page with every sentence", () => {
  let app: TestApp;
  let person: Awaited<ReturnType<TestApp["signedIn"]>>;
  let ids: Ids = {
    connections: ["connection-1"],
    executors: ["e"],
    runs: ["r", "w"],
    snapshots: ["p"],
    trackers: ["app"],
  };
  const engine = new FakeEngine();
  beforeAll(async () => {
    app = await testApp({ runtimes: fakeRuntimes(engine) });
    person = await app.signedIn();
    // What signing in has to say was said in English.
    await person.get("/");
    await addSurroundings(app);
    const secret = { username: "a", password: "a password of a registry" };
    const credential = await person.api("POST", "/credentials", { name: "甲", kind: "oci", secret });
    const notifier = { kind: "webhook", url: "https://hooks.example.org/a", trigger_events: ["new_release"] };
    const made = await person.api("POST", "/notifiers", { name: "甲", language: "zh", ...notifier });
    ids = { ...ids, credentials: [String(credential.body.id)], notifiers: [String(made.body.id)] };
    await fill(app, String(made.body.id));
    engine.add("甲", "registry.test/app:1.0", digest("a"));
  });
  afterAll(() => app.close());

  test("is Chinese", async () => {
    const headers = { "accept-language": "zh-CN" };
    const notices: { code: string; message: Message }[] = [{ code: "stack", message: everything }];
    const fault = new PluginError("rejected", everything);
    const marker = tellers.zh(say("net.host_unreachable"));
    const [found, showing, broken] = [new Set<string>(), new Set<string>(), new Set<string>()];
    const paths = pagesOf(app, ids);
    expect(paths.length).toBeGreaterThan(60);
    for (const isFailing of [false, true]) {
      engine.warnings = notices;
      engine.refusals = isFailing ? [] : notices;
      engine.inspectFault = isFailing ? fault : null;
      engine.failures = new Map(isFailing ? [["discover", fault]] : []);
      const refused = {
        connection_id: "connection-1",
        "target.kind": "container",
        "target.id": "甲",
        trigger: "manual",
      };
      const answers: [string, { status: number; text: string }][] = [
        ["POST /executors", await person.post("/executors", refused, { headers })],
      ];
      for (const path of paths) answers.push([path, await person.get(path, { headers })]);
      for (const [path, { status, text }] of answers) {
        if (!text.startsWith("<")) continue;
        for (const words of englishIn(shownIn(text))) found.add(`${path}: ${words}`);
        if (text.includes(marker)) showing.add(path);
        if (status === 500) broken.add(path);
      }
    }
    expect([...broken]).toEqual([]);
    expect([...found]).toEqual([]);
    const [notifier = ""] = ids.notifiers ?? [];
    expect([...showing].map((path) => path.replace(notifier, "n")).toSorted()).toEqual(places);
  });
});

/** Every page that can be got, of what is there. The reference of the API speaks English, as the API does. */
function pagesOf({ app }: TestApp, ids: Ids): readonly string[] {
  const routes = new Set(app.routes.filter(({ method }) => method === "GET").map(({ path }) => path));
  return [...routes]
    .filter((path) => !/^\/(api|assets|docs)\b|[*]|stream$|export$/.test(path))
    .flatMap((path) => {
      const parts = path
        .split("/")
        .map((part, index, all) => (part.startsWith(":") ? (ids[all[index - 1] ?? ""] ?? ["x"]) : [part]));
      return parts.reduce((paths, names) => paths.flatMap((start) => names.map((name) => `${start}/${name}`)));
    })
    .map((path) => (path.endsWith("/notes") ? `${path}?to=1.1` : path || "/"));
}

async function fill({ db, clock, sealer }: TestApp, notifier_id: string): Promise<void> {
  const now = clock.now();
  const times = { created_at: now, updated_at: now };
  const problem = { code: "target_refused", ...told(everything) };
  const unmet = { code: "target_refused", ...told(everything) };
  const binding = { service: "main", tracker: "app", source: "main", channel: "stable" };
  const found = { service: "main", image: "registry.test/app:1.0", tag: "1.0", digest: null, containers: ["甲"] };
  const observed = {
    services: [
      { ...binding, found: { ...found, name: "main", is_running: true }, desired: null, difference: null, unmet },
    ],
    unbound: [],
    problem,
    waiting: null,
    desired_revision: null,
  };
  const facts = { ...toldAs("error", everything), ...toldAs("detail", everything), ...toldAs("message", everything) };
  const outage = {
    ...{ since: now, way: "back", tries: 1, left: null, outcome: "given_up", serving: null, ended_at: now },
    ...toldAs("detail", everything),
  };
  await db.write(async (tx) => {
    const check = { ok: false, code: "unreachable", ...told(everything), version: null, api_version: null };
    await tx
      .update(connections)
      .set({ last_check: { ...check, platform: null, warnings: [problem], checked_at: now }, last_checked_at: now });
    const failing = { last_error_code: "unreachable", last_error_message: everything, failing_since: now };
    await tx.update(tracker_sources).set({ ...failing, last_checked_at: now });
    const release = { source_id: "s", stage: "tag" as const, first_observed_at: now, published_at: now };
    await tx.insert(releases).values({ id: "l", version: "1.1", tag: "1.1", ...release, notes_error: everything });
    await tx.insert(executors).values({
      ...{ id: "e", name: "甲", connection_id: "connection-1", target_kind: "container", target_id: "甲" },
      ...{ trigger: "immediate", image_selection: "keep_name", reference_mode: "tag", restore_on_failure: true },
      ...{ health_check: { strategy: "auto" }, unknown_settings: [toText(everything)], observed, observed_at: now },
      ...times,
    });
    const { service, channel } = binding;
    await tx.insert(executor_bindings).values({ executor_id: "e", service, tracker_id: "t", source_id: "s", channel });
    const run = { executor_id: "e", kind: "update" as const, trigger: "manual" as const, due_at: now, created_at: now };
    const containers = [{ container: "甲", service: "main", because: "desired", outcome: "down", is_cause: true }];
    await tx.insert(runs).values({
      ...{ ...run, id: "r", state: "failed", reason_code: "target_down", reason: everything, outage },
      ...{ containers: containers.map((each) => ({ ...each, downtime_ms: 1, ...toldAs("detail", everything) })) },
      ...{ started_at: now, ended_at: now, from_tag: "1.0", to_tag: "1.1", serving: "none" },
    });
    const plan = { services: [], diff: [], carried: {}, warnings: [problem], refusals: [problem], containers: [] };
    await tx.insert(runs).values({
      ...{ ...run, id: "w", state: "pending", approval: "awaiting", approval_until: now + 60_000 },
      ...{ plan, plan_hash: "a".repeat(64), reason_code: "retry", reason: everything },
    });
    const steps = ["pull", "snapshot", "create", "start", "probe", "verify", "undo", "serving", "failure", "bring_up"];
    for (const [index, step] of steps.entries()) {
      await tx.insert(run_steps).values({ run_id: "r", seq: index + 1, step, phase: "fail", facts, at: now });
    }
    const captured = {
      Name: "甲",
      Service: "main",
      State: { Running: true },
      Config: { Image: "app:1", Digest: null, Env: [] },
    };
    const image = { reference: "registry.test/app:1.0", image_id: "sha256:a", size_bytes: 2, created_at: now };
    await tx
      .insert(snapshots)
      .values({ id: "p", executor_id: "e", sealed_content: sealer.seal(JSON.stringify(captured)), ...image });
    const delivery = { notifier_id, event: "test", body: {}, state: "failed" as const, attempt_count: 1 };
    await tx
      .insert(deliveries)
      .values({ id: "d", ...delivery, last_error: everything, created_at: now, ended_at: now });
    await tx
      .insert(delivery_attempts)
      .values({ delivery_id: "d", attempt: 1, error: everything, duration_ms: 1, at: now });
    const entry = { event: "destination_blocked", outcome: "refused" as const, actor: "system", at: now };
    await tx.insert(audit_entries).values({ id: "a", ...entry, detail: toldAs("reason", everything) });
  });
}
