import { createHash } from "node:crypto";
import { parse } from "yaml";
import { PluginError } from "../../../errors.ts";
import { type Message, plain, say } from "../../../messages/message.ts";
import { parseBoundedJson } from "../../../net/bounded-json.ts";
import { canonical, objectAt, stringAt } from "../../engine/raw.ts";
import type { Change, ChartChange, FieldDiff, Refusal, TargetRef, UpdatePlan } from "../../runtime.ts";
import { manifestDiffs, maxDiffs, readManifest, valuesDiffs, workloadsIn } from "./manifest.ts";
import type { Helm, HelmResult } from "./program.ts";
import { type FoundRelease, isPending, releaseKind, releaseTarget } from "./release-target.ts";
import type { Driver, Release, StoredRevision } from "./storage.ts";

/** What a plan for a release says beyond the common part. */
export interface ReleaseDetail extends Record<string, unknown> {
  /** `namespace/name`. */
  release: string;
  driver: Driver;
  /** The latest revision, which the plan relies on. */
  revision: number;
  /** The revision that is rolled back to first, because the latest was never finished; null if it was. */
  unlock_to: number | null;
  chart: { name: string; from: string; to: string };
  /** `kind/namespace/name` of the workloads that the new version has. */
  workloads: readonly string[];
}

/** Runs of helm that change nothing. */
export const lookMs = 120_000;

/** `revisions`: the latest first. `helm`: why it cannot be used; null if it can. */
export async function planUpgrade(
  ref: TargetRef,
  found: FoundRelease,
  revisions: readonly StoredRevision[],
  changes: readonly Change[],
  program: { helm: Helm; problem: Message | null },
): Promise<UpdatePlan<ReleaseDetail>> {
  const { stored, release } = found;
  const target = releaseTarget(found, program.problem);
  const [service] = target.services;
  const change = chartChange(changes);
  if (service?.artifact.kind !== "chart") throw new Error("A release has one chart");
  const from = service.artifact;
  const isSame = change === null || from.version === change.version;
  const refusals = [...target.refusals];
  if (change !== null && release !== null && from.name !== change.name) {
    refusals.push({
      code: "other_chart",
      message: say("kubernetes.other_chart", { from: from.name, to: change.name }),
    });
  }
  const unlockTo = isPending(stored.status) ? lastGood(revisions) : null;
  if (isPending(stored.status) && unlockTo === null && refusals.length === 0) {
    refusals.push({ code: "not_installed", message: say("kubernetes.release_not_installed") });
  }
  const isPreviewed = !isSame && refusals.length === 0 && unlockTo === null && release !== null;
  const preview = isPreviewed ? await previewOf(program.helm, stored, release, change) : null;
  if (preview?.problem != null) refusals.push({ code: "not_rendered", message: preview.problem });
  return {
    ref,
    changes,
    services: [
      {
        service: "main",
        from: { reference: from.reference, digest: null, image_id: "", is_running: service.state === "running" },
        to: { reference: change?.reference ?? from.reference, digest: change?.digest ?? null, is_running: true },
      },
    ],
    detail: {
      release: ref.id,
      driver: stored.driver,
      revision: stored.revision,
      unlock_to: unlockTo,
      chart: { name: from.name, from: from.version, to: change?.version ?? from.version },
      workloads: preview?.workloads ?? workloadNames(release, stored.namespace),
    },
    order: "start_first",
    drain_seconds: 0,
    owed: [],
    files: [],
    diff: preview?.diff ?? [],
    carried: {},
    refusals,
    warnings: [...target.warnings, ...(preview?.warnings ?? [])],
    is_noop: isSame,
    hash: hashOf(ref, stored, change),
  };
}

/** Going back to `to`, as Helm stored it: with its chart and with what was set then. Null if Helm has forgotten it. */
export function planRollback(
  ref: TargetRef,
  found: FoundRelease,
  to: { revision: number; release: Release | null },
  problem: Message | null,
): UpdatePlan<ReleaseDetail> {
  const { stored, release } = found;
  const target = releaseTarget(found, problem);
  const { chart: { metadata: before } = { metadata: { name: "", version: "" } } } = release ?? {};
  const { chart: { metadata: after } = { metadata: before } } = to.release ?? {};
  const refusals = [...target.refusals];
  const { revision } = to;
  if (to.release === null) {
    refusals.push({ code: "revision_gone", message: say("kubernetes.revision_gone", { revision }) });
  }
  const diff = release === null || to.release === null ? [] : differences(release, to.release, stored.namespace);
  return {
    ref,
    changes: [],
    services: [
      {
        service: "main",
        from: { reference: `${before.name}-${before.version}`, digest: null, image_id: "", is_running: true },
        to: { reference: `${after.name}-${after.version}`, digest: null, is_running: true },
      },
    ],
    detail: {
      release: ref.id,
      driver: stored.driver,
      revision: stored.revision,
      unlock_to: null,
      chart: { name: before.name, from: before.version, to: after.version },
      workloads: workloadNames(to.release, stored.namespace),
    },
    order: "start_first",
    drain_seconds: 0,
    owed: [],
    files: [],
    diff: diff.slice(0, maxDiffs),
    carried: {},
    refusals,
    warnings: target.warnings,
    is_noop:
      stored.status === "deployed" && (stored.revision === revision || (to.release !== null && diff.length === 0)),
    hash: hashOf(ref, stored, { name: after.name, version: String(revision), digest: null }),
  };
}

function differences(before: Release, after: Release, namespace: string): readonly FieldDiff[] {
  return [
    ...valuesDiffs(objectAt(before.config), objectAt(after.config)),
    ...manifestDiffs(readManifest(before.manifest, namespace), readManifest(after.manifest, namespace)),
  ];
}

function chartChange(changes: readonly Change[]): ChartChange | null {
  const [change] = changes;
  if (change === undefined) return null;
  if (change.kind !== "chart") throw new Error(`The change of "${change.service}" is not one of a chart`);
  return change;
}

/** The revision that ran before the one that was never finished. */
function lastGood(revisions: readonly StoredRevision[]): number | null {
  return revisions.find(({ status }) => status === "deployed")?.revision ?? null;
}

/** Every upgrade and rollback, by whomever, makes a new revision. */
export function hashOf(
  { id }: TargetRef,
  { revision, status, driver }: StoredRevision,
  change: Pick<ChartChange, "name" | "version" | "digest"> | null,
): string {
  const { name = "", version = "", digest = null } = change ?? {};
  const text = canonical({ kind: releaseKind, id, revision, status, driver, name, version, digest });
  return createHash("sha256").update(text).digest("hex");
}

function workloadNames(release: Release | null, namespace: string): readonly string[] {
  try {
    return workloadsIn(readManifest(release?.manifest ?? "", namespace)).map(({ kind, id }) => `${kind}/${id}`);
  } catch {
    return [];
  }
}

interface Preview {
  diff: readonly FieldDiff[];
  warnings: readonly Refusal[];
  workloads: readonly string[];
  /** Why the new version cannot be installed with the release's values. */
  problem: Message | null;
}

/** What the cluster would get, by its own word: a dry run on the server. */
async function previewOf(
  helm: Helm,
  { driver, namespace }: StoredRevision,
  release: Release,
  change: ChartChange,
): Promise<Preview> {
  const files = { "chart.tgz": await change.archive() };
  const look = (...args: readonly string[]) => helm.run({ args, driver, files, timeout_ms: lookMs });
  const rendered = await look(...upgradeArgs(release.name, namespace, "2m"), "--dry-run=server", "-o", "json");
  if (!rendered.is_done) {
    const problem = say("kubernetes.not_rendered", { said: wordsOf(rendered) });
    return { diff: [], warnings: [], workloads: [], problem };
  }
  const [values, crds] = await Promise.all([
    look("show", "values", "{folder}/chart.tgz"),
    look("show", "crds", "{folder}/chart.tgz"),
  ]);
  try {
    const next = objectAt(parseBoundedJson(jsonIn(rendered.stdout)));
    const after = readManifest(stringAt(next.manifest), namespace);
    const diff = [
      ...valuesDiffs(objectAt(release.chart.values), objectAt(parse(values.stdout, { maxAliasCount: 1000 }))),
      ...manifestDiffs(readManifest(release.manifest, namespace), after),
    ];
    return {
      diff: diff.slice(0, maxDiffs),
      warnings: [
        ...named(
          "crds",
          "kubernetes.crds_left",
          readManifest(crds.stdout, namespace).map(({ name }) => name),
        ),
        ...named("hooks", "kubernetes.hooks_run", hooksIn(next.hooks)),
        ...(diff.length > maxDiffs
          ? [{ code: "diff_cut", message: say("kubernetes.diff_cut", { more: diff.length - maxDiffs }) }]
          : []),
      ],
      workloads: workloadsIn(after).map(({ kind, id }) => `${kind}/${id}`),
      problem: null,
    };
  } catch (error) {
    // Not what helm prints, or a manifest that is not YAML.
    if (error instanceof PluginError) throw error;
    throw new PluginError("malformed", say("kubernetes.helm_strange", { said: plain("") }), { cause: error });
  }
}

/** The release's own values over the new chart's defaults; never installs what is missing. */
export function upgradeArgs(release: string, namespace: string, timeout: string): readonly string[] {
  return [
    ...["upgrade", release, "{folder}/chart.tgz", "--namespace", namespace],
    ...["--reset-then-reuse-values", "--timeout", timeout],
  ];
}

/** What helm said of its failure. */
export function wordsOf({ said }: HelmResult): Message {
  return said ?? say("kubernetes.helm_killed");
}

/** Helm 4 writes other lines before it. */
function jsonIn(text: string): string {
  const start = /^\{/m.exec(text)?.index ?? 0;
  return text.slice(start);
}

function hooksIn(hooks: unknown): readonly string[] {
  if (!Array.isArray(hooks)) return [];
  return hooks.flatMap((hook) => {
    const { kind, name, events } = objectAt(hook);
    const when = Array.isArray(events) ? events.filter((each) => /upgrade$/.test(String(each))) : [];
    return when.length === 0 ? [] : [`${stringAt(kind)} ${stringAt(name)} (${when.join(", ")})`];
  });
}

function named(
  code: string,
  sentence: "kubernetes.crds_left" | "kubernetes.hooks_run",
  names: readonly string[],
): readonly Refusal[] {
  return names.length === 0 ? [] : [{ code, message: say(sentence, { names: names.slice(0, 20) }) }];
}
