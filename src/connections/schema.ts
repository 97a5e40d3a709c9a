import * as v from "valibot";
import { Description, Instant, Name, NullableInstant } from "../forms/inputs.ts";
import type { ListShape } from "../forms/page.ts";
import { MessageSchema, ProblemSchema, withSaid } from "../messages/schema.ts";
import type { Runtime, Runtimes } from "../runtimes/runtime.ts";
import type { TargetService } from "../runtimes/target.ts";
import { connectionStates, ReachView } from "./reach.ts";

export { connectionStateOf, failureOf, type LookFacts, ReachView, reachOf, validCheck } from "./reach.ts";

const IsEnabled = v.optional(
  v.pipe(v.boolean(), v.title("Enabled"), v.description("If off, nothing is discovered here and runs are skipped")),
  true,
);

const ConcurrentRuns = v.optional(
  v.pipe(
    v.number(),
    v.integer(),
    v.minValue(1),
    v.maxValue(10),
    v.title("Concurrent runs"),
    v.description("How many runs may change this engine at the same time; others wait"),
    v.metadata({ advanced: true }),
  ),
  1,
);

/** In a form, stands for a credential that is created with the connection. */
export const newCredential = "new";

const CredentialId = v.optional(v.nullable(v.pipe(v.string(), v.maxLength(64), v.title("Credential"))), null);

const option = (kind: string, runtime: Runtime, titles: Readonly<Record<string, string>>) =>
  v.strictObject({
    name: Name,
    kind: v.pipe(
      v.literal(kind),
      v.title("Type"),
      v.metadata({
        immutable: true,
        option_titles: titles,
      }),
    ),
    description: Description,
    is_enabled: IsEnabled,
    config: v.pipe(runtime.Config, v.title("Address")),
    credential_id: CredentialId,
    concurrent_runs: ConcurrentRuns,
  });

/** The input of a new connection: one option per kind of runtime, each with the plug-in's own configuration. */
export function connectionInput(runtimes: Runtimes) {
  const known = Object.entries(runtimes);
  const titles = Object.fromEntries(known.map(([kind, { title }]) => [kind, title]));
  return v.variant(
    "kind",
    known.map(([kind, runtime]) => option(kind, runtime, titles)),
  );
}

/** A field left out keeps its value, and so do members of `config`. A member set to null returns to its default. */
export const ConnectionPatch = v.strictObject({
  name: v.optional(Name),
  description: v.optional(Description.wrapped),
  is_enabled: v.optional(IsEnabled.wrapped),
  config: v.optional(v.record(v.pipe(v.string(), v.maxLength(50)), v.unknown())),
  credential_id: v.optional(CredentialId.wrapped),
  concurrent_runs: v.optional(ConcurrentRuns.wrapped),
});

export const ConnectionCheckView = withSaid(
  "message",
  v.object({
    ok: v.boolean(),
    /** The failure's code, such as `unreachable`; null when the runtime responded. */
    code: v.nullable(v.string()),
    /** For people: the runtime's version, or what failed. */
    message: v.string(),
    message_data: MessageSchema,
    version: v.nullable(v.string()),
    api_version: v.nullable(v.string()),
    platform: v.nullable(v.string()),
    /** The account that the runtime authenticates us as; null if it has none. */
    identity: v.optional(v.nullable(v.string()), null),
    warnings: v.array(ProblemSchema),
    /** A text that grants the rights that are missing, such as a Kubernetes manifest; null if none are, or there is no such text. */
    remedy: v.optional(v.nullable(v.string()), null),
    checked_at: Instant,
  }),
);
export type ConnectionCheckView = v.InferOutput<typeof ConnectionCheckView>;

export function lastCheckOf(row: { last_check: unknown }): ConnectionCheckView | null {
  const parsed = v.safeParse(ConnectionCheckView, row.last_check);
  return parsed.success ? parsed.output : null;
}

export function connectionList(kinds: readonly string[]): ListShape {
  return {
    sorts: ["name", "kind", "seen"],
    filters: { state: connectionStates, kind: kinds },
    searched: "Part of a name, description or address",
  };
}

export const ConnectionView = v.object({
  id: v.string(),
  name: v.string(),
  kind: v.string(),
  description: v.string(),
  is_enabled: v.boolean(),
  config: v.record(v.string(), v.unknown()),
  credential_id: v.nullable(v.string()),
  credential: v.nullable(v.string()),
  /** How many runs may change this runtime at the same time. */
  concurrent_runs: v.number(),
  /** From the configuration alone, such as an unverified server. */
  warnings: v.array(ProblemSchema),
  last_check: v.nullable(ConnectionCheckView),
  /** Whether it responds, as last checked. */
  reach: ReachView,
  executors: v.array(v.object({ id: v.string(), name: v.string() })),
  created_at: Instant,
  updated_at: Instant,
});
export type ConnectionView = v.InferOutput<typeof ConnectionView>;

const ArtifactView = v.variant("kind", [
  v.object({
    kind: v.literal("image"),
    reference: v.string(),
    image_id: v.string(),
    digest: v.nullable(v.string()),
    platform: v.string(),
  }),
  v.object({
    kind: v.literal("chart"),
    reference: v.string(),
    digest: v.nullable(v.string()),
    name: v.string(),
    version: v.string(),
    app_version: v.nullable(v.string()),
  }),
]);

export const TargetServiceView = v.object({
  name: v.string(),
  /** The containers of this service. */
  containers: v.optional(v.pipe(v.array(v.string()), v.readonly()), []),
  /** What it runs. Observations of earlier versions are images. */
  artifact: v.optional(ArtifactView),
  /** The name of what it runs; `image_id` and `platform` are blank for anything but an image. */
  image: v.string(),
  image_id: v.string(),
  digest: v.nullable(v.string()),
  platform: v.string(),
  state: v.picklist(["running", "stopped", "restarting", "paused", "unknown"]),
});

export type TargetServiceView = v.InferOutput<typeof TargetServiceView>;

export function serviceView({ name, containers, artifact, state }: TargetService): TargetServiceView {
  const { image_id, platform } = artifact.kind === "image" ? artifact : { image_id: "", platform: "" };
  const { reference: image, digest } = artifact;
  return { name, containers: [...containers], artifact: { ...artifact }, image, image_id, digest, platform, state };
}

/** A stored service in the current form. */
export function seenService({ name, containers, artifact, state, ...view }: TargetServiceView): TargetService {
  const { image: reference, image_id, digest, platform } = view;
  const image = { kind: "image", reference, image_id, digest, platform } as const;
  return { name, containers, artifact: artifact ?? image, state };
}

export const TargetView = v.object({
  kind: v.string(),
  /** What such targets are called. */
  title: v.string(),
  title_data: MessageSchema,
  /** Has several services, and its parts may be targets of their own. */
  is_group: v.boolean(),
  id: v.string(),
  name: v.string(),
  namespace: v.nullable(v.string()),
  /** Who else writes it and may revert an update. */
  owner: v.nullable(v.string()),
  owner_data: v.nullable(MessageSchema),
  /** Its state in the runtime's own words; null if that of its services says enough. */
  condition: v.nullable(v.string()),
  condition_data: v.nullable(MessageSchema),
  services: v.array(TargetServiceView),
  /** Why it cannot be updated; empty when it can. */
  refusals: v.array(ProblemSchema),
  warnings: v.array(ProblemSchema),
  labels: v.record(v.string(), v.string()),
  /** For a container: its group. */
  group: v.nullable(v.string()),
  /** The executor that has it, or its group, or one of its containers: a group and its containers never both have one. */
  executor: v.nullable(v.object({ id: v.string(), name: v.string() })),
});
export type TargetView = v.InferOutput<typeof TargetView>;

/** The targets to choose from: a container of a group is updated with the group. */
export function rootsOf(items: readonly TargetView[]): readonly TargetView[] {
  const groups = new Set(items.filter(({ is_group }) => is_group).map(({ id }) => id));
  return items.filter(({ group }) => group === null || !groups.has(group));
}

export const TargetList = v.object({ items: v.array(TargetView), discovered_at: NullableInstant });
export type TargetList = v.InferOutput<typeof TargetList>;
