import { createHash } from "node:crypto";
import * as v from "valibot";
import { PluginError } from "../../../errors.ts";
import { type Message, plain, say } from "../../../messages/message.ts";
import { parseBoundedJson } from "../../../net/bounded-json.ts";
import { withoutSecrets } from "../../engine/hide-secrets.ts";
import { canonical } from "../../engine/raw.ts";
import type { Change, ChartChange, FieldDiff, UpdatePlan } from "../../plan.ts";
import type { ChartArtifact, Refusal, Target, TargetRef } from "../../target.ts";
import { kindOf } from "../follow.ts";
import { rules } from "../workloads.ts";
import {
  manifestDiffs,
  maxDiffs,
  onDeleteIn,
  readManifest,
  secretsOf,
  valuesDiffs,
  workloadsIn,
  workloadsOf,
} from "./manifest.ts";
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

/** What a plan is made of. */
interface Planned {
  change: ChartChange | null;
  from: Pick<ChartArtifact, "name" | "version">;
  to: { version: string; reference: string; digest: string | null };
  unlock_to?: number | null;
  workloads: readonly string[];
  diff: readonly FieldDiff[];
  refusals: readonly Refusal[];
  warnings: readonly Refusal[];
  is_noop: boolean;
  hash: string;
}

function planOf(ref: TargetRef, { stored }: FoundRelease, target: Target, planned: Planned): UpdatePlan<ReleaseDetail> {
  const { change, from, to, unlock_to = null, workloads, diff, is_noop, hash } = planned;
  const more = diff.length - maxDiffs;
  const cut = { code: "diff_cut", message: say("kubernetes.diff_cut", { more }) };
  return {
    ref,
    changes: change === null ? [] : [change],
    services: target.services.map(({ name: service, artifact: { reference }, state }) => ({
      service,
      from: { reference, digest: null, image_id: "", is_running: state === "running" },
      to: { reference: to.reference, digest: to.digest, is_running: true },
    })),
    detail: {
      release: ref.id,
      driver: stored.driver,
      revision: stored.revision,
      unlock_to,
      chart: { name: from.name, from: from.version, to: to.version },
      workloads,
    },
    order: "start_first",
    drain_seconds: 0,
    owed: [],
    files: [],
    diff: diff.slice(0, maxDiffs),
    carried: {},
    refusals: [...target.refusals, ...planned.refusals],
    warnings: [...target.warnings, ...planned.warnings, ...(more > 0 ? [cut] : [])],
    is_noop,
    hash,
  };
}

/** `revisions`: the latest first. `program.problem`: why helm cannot be used; null if it can. */
export async function planUpgrade(
  ref: TargetRef,
  found: FoundRelease,
  revisions: readonly StoredRevision[],
  changes: readonly Change[],
  program: { helm: Helm; problem: Message | null },
): Promise<UpdatePlan<ReleaseDetail>> {
  const { stored, release } = found;
  const target = releaseTarget(found, program.problem);
  const change = chartChange(changes);
  const from = chartOf(target);
  const to = change ?? { version: from.version, reference: from.reference, digest: null };
  const isSame = from.version === to.version;
  const refusals: Refusal[] = [];
  const unlockTo = isPending(stored.status) ? lastGood(revisions) : null;
  if (isPending(stored.status) && unlockTo === null && target.refusals.length === 0) {
    refusals.push({ code: "not_installed", message: say("kubernetes.release_not_installed") });
  }
  const isOpen = target.refusals.length + refusals.length === 0;
  const isPreviewed = !isSame && isOpen && unlockTo === null && release !== null && change !== null;
  const preview = isPreviewed ? await previewOf(program.helm, stored, release, change) : null;
  return planOf(ref, found, target, {
    ...{ change, from, to, refusals, unlock_to: unlockTo, is_noop: isSame, hash: hashOf(ref, stored, change) },
    ...{ diff: [], warnings: [], workloads: release === null ? [] : namesOf(workloadsOf(release, stored.namespace)) },
    ...preview,
  });
}

/** A rollback to `to` as Helm stored it, with its chart and values. Null if Helm no longer has it. */
export function planRollback(
  ref: TargetRef,
  found: FoundRelease,
  to: { revision: number; release: Release | null },
  problem: Message | null,
): UpdatePlan<ReleaseDetail> {
  const { stored, release } = found;
  const target = releaseTarget(found, problem);
  const { revision } = to;
  const from = chartOf(target);
  const { name, version } = to.release?.chart.metadata ?? from;
  const gone = { code: "revision_gone", message: say("kubernetes.revision_gone", { revision }) };
  const after = to.release === null ? [] : readManifest(to.release.manifest, stored.namespace);
  const diff = release === null || to.release === null ? null : differences(release, to.release, stored.namespace);
  return planOf(ref, found, target, {
    ...{ change: null, from, to: { version, reference: `${name}-${version}`, digest: null } },
    workloads: namesOf(workloadsIn(after)),
    diff: diff ?? [],
    refusals: to.release === null ? [gone] : [],
    warnings: leftToOthers(after),
    is_noop: stored.status === "deployed" && (stored.revision === revision || diff?.length === 0),
    hash: rollbackHash(ref, stored, revision),
  });
}

function chartOf({ services }: Target): ChartArtifact {
  const [service] = services;
  if (service?.artifact.kind !== "chart") throw new Error("A release has one chart");
  return service.artifact;
}

function namesOf(workloads: readonly TargetRef[]): readonly string[] {
  return workloads.map(({ kind, id }) => `${kind}/${id}`);
}

function differences(before: Release, after: Release, namespace: string): readonly FieldDiff[] {
  return [
    ...valuesDiffs(before.config ?? {}, after.config ?? {}),
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
  { revision, status, driver, uid }: StoredRevision,
  change: Pick<ChartChange, "name" | "version" | "digest"> | null,
): string {
  const { name = "", version = "", digest = null } = change ?? {};
  const text = canonical({ kind: releaseKind, id, revision, status, driver, uid, name, version, digest });
  return createHash("sha256").update(text).digest("hex");
}

/** The same for a rollback to a revision. */
export function rollbackHash(ref: TargetRef, stored: StoredRevision, revision: number): string {
  return hashOf(ref, stored, { name: "", version: String(revision), digest: null });
}

type Preview = Partial<Pick<Planned, "diff" | "warnings" | "workloads" | "refusals">>;

/** What the cluster would get, by its own account: a dry run on the server. */
async function previewOf(
  helm: Helm,
  { driver, namespace, release: own }: StoredRevision,
  release: Release,
  change: ChartChange,
): Promise<Preview> {
  const files = { "chart.tgz": await change.archive() };
  const look = (...args: readonly string[]) => helm.run({ args, driver, files, timeout_ms: lookMs });
  const rendered = await look(...upgradeArgs(own, namespace, "2m"), "--dry-run=server", "-o", "json");
  if (!rendered.is_done) {
    const said = withoutSecrets(wordsOf(rendered), secretsOf(release, namespace));
    return refused("not_rendered", say("kubernetes.not_rendered", { said }));
  }
  const next = readRendered(rendered.stdout);
  const { name } = next.chart.metadata;
  // Whatever name the archive was published under: Helm would replace the other chart with it.
  if (name !== change.name)
    return refused("other_chart", say("kubernetes.other_chart", { from: change.name, to: name }));
  const crds = await look("show", "crds", "{folder}/chart.tgz");
  const after = readManifest(next.manifest, namespace);
  const crdNames = readManifest(crds.stdout, namespace).map((each) => each.name);
  return {
    diff: [
      ...valuesDiffs(release.chart.values ?? {}, next.chart.values ?? {}),
      ...manifestDiffs(readManifest(release.manifest, namespace), after),
    ],
    warnings: [
      ...named("crds", "kubernetes.crds_left", crdNames),
      ...named("hooks", "kubernetes.hooks_run", hooksIn(next.hooks ?? [])),
      ...leftToOthers(after),
    ],
    workloads: namesOf(workloadsIn(after)),
  };
}

function refused(code: string, message: Message): Preview {
  return { refusals: [{ code, message }] };
}

const Hook = v.object({ name: v.string(), kind: v.string(), events: v.nullish(v.array(v.string()), []) });
/** What is read of a dry run. */
const RenderedRelease = v.object({
  chart: v.object({
    metadata: v.object({ name: v.string() }),
    values: v.nullish(v.record(v.string(), v.unknown()), {}),
  }),
  manifest: v.nullish(v.string(), ""),
  hooks: v.nullish(v.array(Hook), []),
});

/** Helm 4 writes other lines before the JSON. */
function readRendered(text: string): v.InferOutput<typeof RenderedRelease> {
  try {
    return v.parse(RenderedRelease, parseBoundedJson(text.slice(/^\{/m.exec(text)?.index ?? 0)));
  } catch (cause) {
    throw new PluginError("malformed", say("kubernetes.helm_strange", { said: plain("") }), { cause });
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

function hooksIn(hooks: readonly v.InferOutput<typeof Hook>[]): readonly string[] {
  return hooks.flatMap(({ kind, name, events }) => {
    const when = (events ?? []).filter((each) => each.endsWith("upgrade"));
    return when.length === 0 ? [] : [`${kind} ${name} (${when.join(", ")})`];
  });
}

/** Objects whose new version would not run automatically. */
function leftToOthers(objects: ReturnType<typeof readManifest>): readonly Refusal[] {
  return onDeleteIn(objects).map((ref) => {
    const said = say("kubernetes.on_delete", { kind: rules[kindOf(ref)].title });
    return { code: "on_delete", message: ofWorkload(ref, said) };
  });
}

export function ofWorkload(ref: TargetRef, said: Message): Message {
  return say("kubernetes.of_workload", { kind: rules[kindOf(ref)].title, workload: ref.id, said });
}

function named(
  code: string,
  sentence: "kubernetes.crds_left" | "kubernetes.hooks_run",
  names: readonly string[],
): readonly Refusal[] {
  return names.length === 0 ? [] : [{ code, message: say(sentence, { names: names.slice(0, 20) }) }];
}
