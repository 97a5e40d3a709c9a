import { createHash } from "node:crypto";
import { say } from "../../../messages/message.ts";
import type { ContainersDetail } from "../../containers-detail.ts";
import type { FieldDiff, UpdatePlan } from "../../plan.ts";
import type { Refusal, TargetRef } from "../../target.ts";
import { type Blueprint, blueprint, carriedCounts } from "../carry.ts";
import type { EngineClient } from "../client.ts";
import { planHash, presentDigest, type Scene } from "../container-plan.ts";
import { blueprintDiffs } from "../diff.ts";
import { type ContainerInspect, isRunning, nameOf } from "../objects.ts";
import { canonical, stringAt } from "../raw.ts";
import { splitReference } from "../reference.ts";
import {
  imageGone,
  isToRun,
  readSnapshot,
  type Snapshot,
  type SnapshotMember,
  snapshotBlueprint,
  snapshotDigest,
} from "../snapshot.ts";
import { orNull } from "../survey.ts";
import { goneNeeds, type NeedsClient, withNetworksNow } from "./gone.ts";
import { amongThose, containersAfter, judgeRestored } from "./judge-restored.ts";
import { type Owners, ownersNow } from "./owners.ts";
import { isStranger } from "./stranger.ts";
import type { FoundTarget } from "./target.ts";
import {
  arrange,
  arrangeable,
  dependantRefusals,
  dependantsOf,
  owedAmong,
  plannedContainer,
  type Replaced,
} from "./target-plan.ts";
import { type Successor, withNames } from "./ties.ts";

/** A container that a rollback creates from the snapshot, replacing the present one if there is one. */
export interface Restored {
  member: SnapshotMember;
  present: Scene | null;
}

export interface RestorePlan {
  plan: UpdatePlan<ContainersDetail>;
  restored: readonly Restored[];
  /** Containers that depend on those and are recreated unchanged. */
  dependants: readonly Replaced[];
  /** All of them, as groups that go down and up together. */
  clusters: readonly (readonly (Restored | Replaced)[])[];
  /** IDs in the snapshot of containers that are not recreated, and their present IDs. */
  stands: ReadonlyMap<string, Successor>;
}

interface Compared extends Restored {
  /** What recreating it would change; null when it does not exist. */
  diff: readonly FieldDiff[] | null;
  /** It exists, and would be recreated identically. */
  is_same: boolean;
}

/** The plan that restores a snapshot; containers that are not in the snapshot stay. Read-only. */
export async function planRestore(
  client: Pick<EngineClient, "inspectImage"> & NeedsClient,
  found: FoundTarget,
  apiVersion: string,
  text: string,
): Promise<RestorePlan> {
  const snapshot = readSnapshot(text);
  const owners = ownersNow(found, snapshot);
  const compared = await compareMembers(found, snapshot, owners, apiVersion);
  const restored = await Promise.all(
    compared
      .filter((each) => !each.is_same)
      .map(async (each) => ({ ...each, member: await withNetworksNow(client, each.member) })),
  );
  const replacedNow = restored.flatMap((each) => (each.present === null ? [] : [asReplaced(each, each.present)]));
  const dependants = await dependantsOf(found, replacedNow);
  const gone = [
    ...(await goneImages(client, restored)),
    ...(await goneNeeds(
      client,
      restored.map(({ member }) => member),
      apiVersion,
    )),
  ];
  const stands = new Map([
    ...owners.stands,
    ...compared.flatMap(({ member, present, is_same: isSame }) => {
      if (!isSame || present === null) return [];
      return [[member.container.Id, { id: present.container.Id, name: member.name }] as const];
    }),
  ]);
  const arranged = arrange<Restored | Replaced>([
    ...restored.map((each) => ({
      item: each,
      containers: [each.member.container, ...(each.present === null ? [] : [each.present.container])],
    })),
    ...dependants.map(arrangeable),
  ]);
  const after = containersAfter(found.all, restored);
  const nameOfId = namesOfIds(found, snapshot, owners);
  const isSingle = found.ref.kind === "container";
  const told = (notice: Refusal, name: string) =>
    isSingle ? notice : { ...notice, message: say("phrases.about", { name, said: notice.message }) };
  const judged = restored.map((each) => ({ ...judgeRestored(each, after, nameOfId), name: each.member.name }));
  return {
    plan: {
      ref: found.ref,
      changes: [],
      services: servicesOf(compared),
      detail: {
        containers: arranged.order.map((each) => {
          if (!("member" in each)) return plannedContainer(each);
          const isRunningThen = isToRun(each.member, each.present?.container ?? null);
          return {
            name: each.member.name,
            service: each.member.service,
            because: "desired",
            is_running: isRunningThen,
          };
        }),
      },
      order: "stop_first",
      drain_seconds: 0,
      owed: owedAmong([...compared.flatMap(({ present }) => present ?? []), ...dependants.map(({ scene }) => scene)]),
      files: [],
      diff: compared.flatMap(({ diff }) => (diff ?? []).map((each) => ({ ...each, because: "desired" as const }))),
      carried: compared
        .map(({ member }) => carriedCounts(member.container, member.image, snapshotBlueprint(member, apiVersion)))
        .reduce((sum, each) => {
          return Object.fromEntries(Object.entries(each).map(([key, count]) => [key, (sum[key] ?? 0) + count]));
        }, {}),
      refusals: [
        ...targetRefusals(snapshot, found.ref),
        ...takenNames(found, snapshot),
        ...judged.flatMap(({ refusals, name }) => refusals.map((each) => told(each, name))),
        ...gone,
        ...owners.refusals,
        ...dependants.flatMap((each) => dependantRefusals(amongThose(each, after))),
        ...arranged.refusals,
      ],
      warnings: judged.flatMap(({ warnings, name }) => warnings.map((each) => told(each, name))),
      is_noop: restored.length === 0,
      hash: restoreHash(compared, dependants, apiVersion, text),
    },
    restored,
    dependants,
    clusters: arranged.clusters,
    stands,
  };
}

async function compareMembers(
  found: FoundTarget,
  snapshot: Snapshot,
  owners: Owners,
  apiVersion: string,
): Promise<readonly Compared[]> {
  const compared: Compared[] = [];
  for (const member of snapshot.members) {
    if (member.role !== "target") continue;
    const named = found.all.find((each) => nameOf(each) === member.name) ?? null;
    const container = named !== null && isOfTarget(found, named) ? named : null;
    const present = container === null ? null : await found.sceneOf(container);
    const diff = present === null ? null : memberDiffs(found, snapshot, owners, present, member, apiVersion);
    compared.push({ member, present, diff, is_same: diff?.length === 0 });
  }
  return compared;
}

/** What recreating it would change. Compares the blueprints, with volumes by name, and with replaced owners as the same owners. */
function memberDiffs(
  found: FoundTarget,
  snapshot: Snapshot,
  owners: Owners,
  { container, image }: Scene,
  member: SnapshotMember,
  apiVersion: string,
): readonly FieldDiff[] {
  const nameOfId = namesOfIds(found, snapshot, owners);
  const named = (shape: Blueprint) => ({ ...shape, host_config: withNames(shape.host_config, nameOfId) });
  // An image that is no longer on the engine must be pulled again, so its id counts as none.
  const oldImage = image ?? { ...member.image, Id: "" };
  const now = blueprint({
    container,
    oldImage,
    newImage: oldImage,
    reference: stringAt(container.Config.Image),
    inherited: new Set(member.inherited),
    apiVersion,
  });
  const diffs = blueprintDiffs(member.service, container, named(now), named(snapshotBlueprint(member, apiVersion)));
  const [runs, willRun] = [isRunning(container), isToRun(member, container)];
  if (runs === willRun) return diffs;
  const { service } = member;
  return [...diffs, { service, path: "State.Running", before: `${runs}`, after: `${willRun}`, because: "desired" }];
}

/** Names of containers that the snapshot, or the present containers, reference by id. */
function namesOfIds(found: FoundTarget, snapshot: Snapshot, { stands }: Owners): (id: string) => string | null {
  const known = [...found.all, ...snapshot.members.map((each) => each.container)];
  return (id) => {
    const owner = known.find((each) => each.Id === id);
    return stands.get(id)?.name ?? (owner === undefined ? null : nameOf(owner));
  };
}

function asReplaced({ member }: Restored, present: Scene): Replaced {
  return { scene: present, service: member.service, because: "desired", change: null, desired: null };
}

function targetRefusals(snapshot: Snapshot, ref: TargetRef): readonly Refusal[] {
  if (snapshot.name === ref.id && snapshot.kind === ref.kind) return [];
  return [{ code: "other_target", message: say("restoring.other_target", { name: snapshot.name, target: ref.id }) }];
}

/** A single container is its name; of a group only the group's own may be replaced. */
function isOfTarget({ ref, members }: FoundTarget, container: ContainerInspect): boolean {
  return ref.kind === "container" || members.some((each) => each.container.Id === container.Id);
}

function takenNames(found: FoundTarget, snapshot: Snapshot): readonly Refusal[] {
  const names = new Set(snapshot.members.filter((each) => each.role === "target").map((each) => each.name));
  return found.all
    .filter((each) => names.has(nameOf(each)) && !isOfTarget(found, each))
    .map((each) => ({
      code: "name_taken",
      message: say("restoring.name_taken", { name: nameOf(each), target: found.ref.id }),
    }));
}

async function goneImages(
  client: Pick<EngineClient, "inspectImage">,
  restored: readonly Restored[],
): Promise<readonly Refusal[]> {
  const gone: Refusal[] = [];
  for (const { member } of restored) {
    if (snapshotDigest(member) !== null || (await orNull(client.inspectImage(member.image.Id))) !== null) continue;
    gone.push(imageGone(stringAt(member.container.Config.Image)));
  }
  return gone;
}

function servicesOf(compared: readonly Compared[]): UpdatePlan["services"] {
  const services = new Map<string, UpdatePlan["services"][number]>();
  for (const { member, present } of compared) {
    const digest = snapshotDigest(member);
    const container = present?.container ?? null;
    const isRunningNow = container !== null && isRunning(container);
    const isRunningThen = isToRun(member, container);
    const known = services.get(member.service);
    services.set(member.service, {
      service: member.service,
      from: known?.from ?? {
        reference: stringAt(container?.Config.Image),
        digest: present === null ? null : presentDigest(present),
        image_id: container?.Image ?? "",
        is_running: isRunningNow,
      },
      to: known?.to ?? {
        reference: stringAt(member.container.Config.Image),
        digest: digest === null ? null : splitReference(digest).digest,
        is_running: isRunningThen,
      },
    });
    const service = services.get(member.service);
    if (service === undefined) continue;
    services.set(member.service, {
      ...service,
      from: { ...service.from, is_running: service.from.is_running || isRunningNow },
      to: { ...service.to, is_running: service.to.is_running || isRunningThen },
    });
  }
  return [...services.values()];
}

/** A single container is hashed like its plan: its settings, and what it should become. A stranger counts as itself. */
function restoreHash(
  compared: readonly Compared[],
  dependants: readonly Replaced[],
  apiVersion: string,
  text: string,
): string {
  const snapshot = createHash("sha256").update(text).digest("hex");
  const parts = [
    ...compared.map(({ member, present }) => {
      const found = present === null ? null : planHash(present.container, apiVersion, { snapshot });
      const more = [
        ...(isStranger(member, present) ? [present?.container.Id] : []),
        ...(present?.is_owed ? ["owed"] : []),
      ];
      return [member.name, found, ...more];
    }),
    ...dependants.map(({ scene }) => [
      ...[nameOf(scene.container), planHash(scene.container, apiVersion, {})],
      ...(scene.is_owed ? ["owed"] : []),
    ]),
  ];
  return createHash("sha256").update(canonical({ parts, snapshot })).digest("hex");
}
