import {
  audit_entries,
  connections,
  deliveries,
  delivery_attempts,
  events,
  executor_bindings,
  executors,
  releases,
  run_steps,
  runs,
  seen_versions,
  snapshots,
  tracker_sources,
  trackers,
  upstream_outages,
} from "../../src/db/tables.ts";
import { inEnglish, type Message, say, told, toldAs, toText } from "../../src/messages/message.ts";
import { designParts } from "../../templates/design/design.tsx";
import { questions } from "../../templates/design/questions.tsx";
import { everyMessage } from "./every-message.ts";
import { FakeEngine, fakeRuntimes } from "./fake-runtime.ts";
import { digest } from "./run-world.ts";
import { addSurroundings } from "./surroundings.ts";
import { type TestApp, testApp } from "./test-app.ts";

export const catalogue = everyMessage();
const first = [...catalogue.values()].flatMap(([message]) => (message === undefined ? [] : [message]));
/** All that can be said, at once. */
export const everything: Message = say("phrases.joined", { items: first });
/** The longest that is said at once. */
export const longest: Message = first.reduce((a, b) => (inEnglish(b).length > inEnglish(a).length ? b : a));

/** What is there, by the part of a path that it follows. */
type Ids = Readonly<Record<string, readonly string[]>>;

/** The whole application with one of each thing, which all say the same: everything that can be said, or the given message. */
export async function everyPage(message = everything) {
  const engine = new FakeEngine();
  const app = await testApp({ runtimes: fakeRuntimes(engine) });
  const person = await app.signedIn();
  // What signing in has to say was said in English.
  await person.get("/");
  await addSurroundings(app);
  const secret = { username: "a", password: "a password of a registry" };
  const credential = await person.api("POST", "/credentials", { name: "甲", kind: "oci", secret });
  const notifier = { kind: "webhook", url: "https://hooks.example.org/a", trigger_events: ["new_release"] };
  const made = await person.api("POST", "/notifiers", { name: "甲", language: "zh", ...notifier });
  const credential_id = String(credential.body.id);
  engine.add("甲", "registry.test/app:1.0", digest("a"));
  const notifier_id = String(made.body.id);
  await fill(app, { notifier_id, credential_id }, message);
  const ids: Ids = {
    connections: ["connection-1"],
    executors: ["e"],
    runs: ["r", "w"],
    snapshots: ["p"],
    trackers: ["app"],
    credentials: [credential_id],
    notifiers: [notifier_id],
  };
  return { app, person, engine, notifier_id, credential_id, paths: pagesOf(app, ids) };
}

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
    .flatMap((path) => {
      if (path === "/design") return designParts.map((part) => `${path}?part=${part}`);
      if (path === "/design/question") return questions.map((name) => `${path}?name=${name}`);
      if (path.endsWith("/notes")) return `${path}?to=1.1`;
      if (path === "/executors/bulk") return `${path}?ids=${ids.executors?.join(",")}`;
      return path === "/trackers/-/bulk" ? `${path}?ids=t` : path || "/";
    });
}

async function fill(
  { db, clock, sealer }: TestApp,
  { notifier_id, credential_id }: { notifier_id: string; credential_id: string },
  message: Message,
): Promise<void> {
  const now = clock.now();
  const times = { created_at: now, updated_at: now };
  const problem = { code: "target_refused", ...told(message) };
  const unmet = { code: "target_refused", ...told(message) };
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
  const facts = { ...toldAs("error", message), ...toldAs("detail", message), ...toldAs("message", message) };
  const outage = {
    ...{ since: now, way: "back", tries: 1, left: null, outcome: "given_up", serving: null, ended_at: now },
    ...toldAs("detail", message),
  };
  await db.write(async (tx) => {
    const check = { ok: false, code: "unreachable", ...told(message), version: null, api_version: null };
    await tx
      .update(connections)
      .set({ last_check: { ...check, platform: null, warnings: [problem], checked_at: now }, last_checked_at: now });
    const failing = { last_error_code: "unreachable", last_error_message: message, failing_since: now };
    await tx.update(tracker_sources).set({ ...failing, last_checked_at: now });
    const silent = { host: "registry.test", error_code: "unreachable", error_message: message, failures: 2 };
    const pause = { since: now, pause_ms: 60_000, next_due_at: now + 60_000 };
    await tx.insert(upstream_outages).values([
      { id: "o", ...silent, ...pause },
      { id: "past", ...silent, ...pause, ended_at: now },
    ]);
    const depth = { check_interval_minutes: 360, fetch_depth: 10, request_timeout_seconds: 15 };
    const refused = { ...failing, last_error_code: "unauthorized", credential_id, host: "registry.test" };
    for (const name of ["乙", "丙"]) {
      await tx.insert(trackers).values({ id: name, name, ...depth, sorting: "semantic", ...times });
      const source = {
        id: name,
        tracker_id: name,
        key: "main",
        kind: "oci",
        config: { image: `registry.test/${name}` },
      };
      await tx.insert(tracker_sources).values({ ...source, ...refused, position: 0, next_check_at: now });
    }
    const release = { source_id: "s", stage: "tag" as const, first_observed_at: now, published_at: now };
    await tx.insert(releases).values({ id: "l", version: "1.1", tag: "1.1", ...release, notes_error: message });
    await tx.insert(executors).values({
      ...{ id: "e", name: "甲", connection_id: "connection-1", target_kind: "container", target_id: "甲" },
      ...{ trigger: "immediate", image_selection: "keep_name", reference_mode: "tag", restore_on_failure: true },
      ...{ health_check: { strategy: "auto" }, unknown_settings: [toText(message)], observed, observed_at: now },
      ...times,
    });
    const seen = { executor_id: "e", service: "main", reference: "registry.test/app:1.0" };
    await tx.insert(seen_versions).values([
      { id: "v1", ...seen, tag: "1.0", cause: "first_seen", from_at: now },
      { id: "v2", ...seen, tag: null, reference: null, cause: "outside", from_at: now },
      { id: "v3", ...seen, digest: "sha256:a", cause: "rolled_back", run_id: "r", from_at: now },
    ]);
    const { service, channel } = binding;
    await tx.insert(executor_bindings).values({ executor_id: "e", service, tracker_id: "t", source_id: "s", channel });
    const run = { executor_id: "e", kind: "update" as const, trigger: "manual" as const, due_at: now, created_at: now };
    const containers = [{ container: "甲", service: "main", because: "desired", outcome: "down", is_cause: true }];
    await tx.insert(runs).values({
      ...{ ...run, id: "r", state: "failed", reason_code: "target_down", reason: message, outage },
      ...{ containers: containers.map((each) => ({ ...each, downtime_ms: 1, ...toldAs("detail", message) })) },
      ...{ started_at: now, ended_at: now, from_tag: "1.0", to_tag: "1.1", serving: "none" },
    });
    const plan = { services: [], diff: [], carried: {}, warnings: [problem], refusals: [problem], containers: [] };
    await tx.insert(runs).values({
      ...{ ...run, id: "w", state: "pending", approval: "awaiting", approval_until: now + 60_000 },
      ...{ plan, plan_hash: "a".repeat(64), reason_code: "retry", reason: message },
    });
    const steps = ["pull", "snapshot", "create", "start", "probe", "verify", "undo", "serving", "failure", "bring_up"];
    for (const [index, step] of steps.entries()) {
      await tx
        .insert(run_steps)
        .values({ run_id: "r", seq: index + 1, step, phase: "fail", facts: { ...facts, number: index + 1 }, at: now });
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
    const lost = { cause: "connection", connection: "甲", connection_id: "connection-1", since: now, lasted_ms: null };
    const members = { code: "unreachable", executor_count: 1, executors: ["甲"], ...toldAs("reason", message) };
    await tx
      .insert(events)
      .values({ id: "lost", kind: "connection_lost", facts: { ...lost, ...members }, created_at: now });
    const delivery = { notifier_id, event: "test", body: {}, state: "failed" as const, attempt_count: 1 };
    await tx.insert(deliveries).values({ id: "d", ...delivery, last_error: message, created_at: now, ended_at: now });
    await tx
      .insert(delivery_attempts)
      .values({ delivery_id: "d", attempt: 1, error: message, duration_ms: 1, at: now });
    const entry = { event: "destination_blocked", outcome: "refused" as const, actor: "system", at: now };
    await tx.insert(audit_entries).values({ id: "a", ...entry, detail: toldAs("reason", message) });
  });
}
