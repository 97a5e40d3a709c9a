import { createHash } from "node:crypto";
import * as v from "valibot";
import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import { splitReference } from "../engine/reference.ts";
import type { FieldDiff, FileNotice, ImageChange, UpdatePlan } from "../plan.ts";
import type { RuntimeContext } from "../runtime.ts";
import type { Refusal, TargetRef } from "../target.ts";
import type { StackContent } from "./client.ts";
import { type Configured, editStackFile, readStackFile } from "./compose.ts";
import type { SavedStack } from "./saved.ts";
import { type Found, marksOf, webhookOf } from "./stacks.ts";
import { runningServices, targetOf } from "./target.ts";

const Marks = v.object({ file: v.string(), env: v.string() });

/** What a plan for a stack says beyond the common part, and what the journal keeps of it: no text of the file and no variable. */
export const StackDetail = v.object({
  stack: v.string(),
  stack_id: v.number(),
  /** Portainer's time of the last update; a later one shows that an update has ended. */
  update_date: v.number(),
  /** File and environment before and after. */
  from: Marks,
  to: Marks,
  /** Those that change. */
  services: v.array(
    v.object({
      service: v.string(),
      before: v.string(),
      after: v.string(),
      /** What it runs before. */
      image_id: v.string(),
      digest: v.nullable(v.string()),
      is_running: v.boolean(),
    }),
  ),
  /** All services that run before, changed or not. */
  running: v.array(v.string()),
  /** IDs of the containers before: those that the update leaves alone keep theirs. */
  containers: v.array(v.string()),
});
export type StackDetail = v.InferOutput<typeof StackDetail>;

export interface PlannedStack {
  plan: UpdatePlan<StackDetail>;
  /** What is to be sent. */
  next: StackContent;
  /** Of the stack; blank without one. */
  webhook: string;
}

/** Of a stack whose file is of another kind; such a stack is refused. */
const noContent: StackContent = { file: "", env: [] };

interface Surroundings {
  ref: TargetRef;
  found: Found;
  self: RuntimeContext["self"];
}

/** Plans new images; the file is edited in place. */
export async function planUpdate(around: Surroundings, changes: readonly ImageChange[]): Promise<PlannedStack> {
  const { ref, found } = around;
  const content = found.content ?? noContent;
  const configured = await readStackFile(content);
  const isReadable = found.content !== null && configured.refusal === null;
  for (const { service } of changes) {
    if (isReadable && configured.services.every((each) => each.service !== service)) {
      throw new PluginError("not_found", say("portainer.service_missing", { service, stack: ref.id }));
    }
  }
  // Without a file that can be read, the target is refused already.
  const edited = isReadable
    ? await editStackFile(content, found.stack.EntryPoint ?? "", changes)
    : { content, notices: [], refusals: [], warnings: [] };
  const wanted = new Map(changes.map((change) => [change.service, change]));
  return composePlan(
    around,
    { content, configured },
    {
      changes,
      next: edited.content,
      wanted: (service) => wanted.get(service)?.reference ?? null,
      digest: (service) => wanted.get(service)?.digest?.split("@")[1] ?? null,
      refusals: edited.refusals,
      warnings: [...pulledToo(found, configured.services, changes), ...edited.warnings],
      files: edited.notices,
    },
  );
}

/**
 * Plans a return to a saved file and environment; whatever else was edited since is undone with it. What ran when it was saved will run
 * again.
 */
export async function planRestore(around: Surroundings, saved: SavedStack): Promise<PlannedStack> {
  const content = around.found.content ?? noContent;
  const configured = await readStackFile(content);
  const images = new Map((await readStackFile(saved)).services.map(({ service, image }) => [service, image]));
  const [was, is] = [content, saved].map(({ file }) => file.split("\n")) as [string[], string[]];
  const lines = is.filter((line) => !was.includes(line)).length;
  const variables = saved.env.filter(({ name, value }) =>
    content.env.every((each) => each.name !== name || each.value !== value),
  ).length;
  const isSame = lines === 0 && variables === 0;
  const warning = { code: "whole_file", message: say("portainer.whole_file", { lines, variables }) };
  return composePlan(
    around,
    { content, configured },
    {
      changes: [],
      next: { file: saved.file, env: saved.env },
      wanted: (service) => images.get(service) ?? null,
      digest: () => null,
      refusals: [],
      warnings: isSame ? [] : [warning],
      files: [],
      running: saved.running,
    },
  );
}

interface Wanted {
  changes: readonly ImageChange[];
  next: StackContent;
  /** The reference that a service should have; null for one that is left as it is. */
  wanted: (service: string) => string | null;
  digest: (service: string) => string | null;
  refusals: readonly Refusal[];
  warnings: readonly Refusal[];
  files: readonly FileNotice[];
  /** Services that are to run though they may not now. */
  running?: readonly string[];
}

function composePlan(
  { ref, found, self }: Surroundings,
  { content, configured }: { content: StackContent; configured: Configured },
  { changes, next, wanted, digest, refusals, warnings, files, running = [] }: Wanted,
): PlannedStack {
  const { stack, members } = found;
  const target = targetOf(found, found.content === null ? null : configured, self);
  const services = target.services.flatMap(({ name, artifact, state }) => {
    const reference = wanted(name);
    if (reference === null || artifact.kind !== "image") return [];
    const isRunning = state === "running" || state === "restarting";
    const { image_id } = artifact;
    return [
      {
        service: name,
        from: { reference: artifact.reference, digest: artifact.digest, image_id, is_running: isRunning },
        to: { reference, digest: digest(name), is_running: isRunning || running.includes(name) },
      },
    ];
  });
  const from = marksOf(content);
  const to = marksOf(next);
  const isMoved = services.filter(({ from: was, to: is }) => {
    return was.reference === is.reference && was.digest !== null && is.digest !== null && was.digest !== is.digest;
  });
  const isOther = services.filter(({ from: was, to: is }) => was.reference !== is.reference);
  const diff: FieldDiff[] = [...isOther, ...isMoved].map(({ service, from: was, to: is }) => ({
    service,
    path: "image",
    before: was.reference === is.reference ? `${was.reference}@${was.digest}` : was.reference,
    after: was.reference === is.reference ? `${is.reference}@${is.digest}` : is.reference,
    because: "desired",
  }));
  const detail: StackDetail = {
    stack: stack.Name,
    stack_id: stack.Id,
    update_date: stack.UpdateDate ?? 0,
    from,
    to,
    services: [...isOther, ...isMoved].map(({ service, from: was, to: is }) => {
      const { reference: after, digest: to_digest, is_running } = is;
      return { service, before: was.reference, after, image_id: was.image_id, digest: to_digest, is_running };
    }),
    running: [...new Set([...runningServices(members), ...running])],
    containers: members.map(({ container }) => container.Id),
  };
  const state = members.map(({ service, container }) => [service, container.Image, container.State.Running === true]);
  const plan: UpdatePlan<StackDetail> = {
    ref,
    changes,
    services,
    detail,
    order: "stop_first",
    drain_seconds: 0,
    owed: [],
    files,
    diff,
    carried: {},
    refusals: [...target.refusals, ...refusals],
    warnings: [
      ...target.warnings,
      ...isMoved.map(({ service, to: { reference } }) => ({
        code: "same_reference",
        message: say("portainer.same_reference", { service, reference }),
      })),
      ...warnings,
    ],
    is_noop: from.file === to.file && from.env === to.env && isMoved.length === 0 && isOther.length === 0,
    hash: createHash("sha256")
      .update(JSON.stringify([stack.Id, from, to, state, services]))
      .digest("hex"),
  };
  return { plan, next, webhook: webhookOf(stack) };
}

/** Portainer pulls the images of all services: those whose tag has moved are replaced, too. */
function pulledToo(
  { members }: Found,
  configured: readonly { service: string; image: string | null }[],
  changes: readonly ImageChange[],
): readonly Refusal[] {
  const running = new Set(members.map(({ service }) => service));
  const services = configured.flatMap(({ service, image }) => {
    const isLeft = changes.every((change) => change.service !== service) && running.has(service);
    return isLeft && image !== null && splitReference(image).digest === null ? [service] : [];
  });
  return services.length === 0 ? [] : [{ code: "pulled_too", message: say("portainer.pulled_too", { services }) }];
}
