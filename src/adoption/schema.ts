import * as v from "valibot";
import { TargetServiceView } from "../connections/schema.ts";
import { Instant, Name, NullableInstant } from "../forms/inputs.ts";
import { MessageSchema, ProblemSchema } from "../messages/schema.ts";
import { ProposalView } from "../trackers/import/schema.ts";
import { BehindView } from "../trackers/schema.ts";

/** Maximum targets of one response: their form stays below the number of fields that a request may have. */
export const maxProposedTargets = 300;

/** How targets that are adopted are updated; a maintenance window needs more than a choice. */
export const adoptionTriggers = ["manual", "immediate"] as const;
export type AdoptionTrigger = (typeof adoptionTriggers)[number];

const Choice = v.object({
  search: v.optional(v.pipe(v.string(), v.maxLength(200), v.description("Words of a target's name, service or image"))),
  namespace: v.optional(v.pipe(v.string(), v.maxLength(300), v.description("Only targets of this namespace"))),
});

export const AdoptionQuery = v.object({
  ...Choice.entries,
  limit: v.optional(
    v.pipe(
      v.union([v.number(), v.pipe(v.string(), v.regex(/^\d{1,3}$/), v.transform(Number))]),
      v.integer(),
      v.minValue(1),
      v.maxValue(maxProposedTargets),
      v.description(`Number of targets to return, 1 to ${maxProposedTargets}; ${maxProposedTargets} if omitted`),
    ),
    maxProposedTargets,
  ),
});
export type AdoptionQuery = v.InferOutput<typeof AdoptionQuery>;

/** The newest version that a proposed tracker would pick. `failed`: see `message`. */
export const NewestView = v.object({
  state: v.picklist(["pending", "known", "failed"]),
  /** Null while unknown, and if upstream has no such version. */
  tag: v.nullable(v.string()),
  message: v.nullable(v.string()),
  message_data: v.nullable(MessageSchema),
});
export type NewestView = v.InferOutput<typeof NewestView>;

const RepositoryView = v.object({
  kind: v.picklist(["github", "gitlab", "gitea"]),
  url: v.string(),
});

export const ProposedTrackerView = v.object({
  /** Identifies the proposal: the same image, variant, line and channel have the same key. */
  key: v.string(),
  /** The proposed name, or that of the existing tracker. */
  name: v.string(),
  is_existing: v.boolean(),
  /** What its sources watch: `ghcr.io/acme/app`, or the chart. */
  watches: v.string(),
  /** The registry of an image; blank for a chart. */
  registry: v.string(),
  /** The channel that executors will be bound to. */
  channel: v.string(),
  include_pattern: v.string(),
  /** The line that it stays on; null if it follows every version, new major versions included. */
  line: v.nullable(v.string()),
  /** The pattern of numbered versions that could be followed instead of a moving tag; null if there is none. */
  by_version_pattern: v.nullable(v.string()),
  remarks: ProposalView.entries.remarks,
  /** False if a remark asks for a decision; such targets are not selected. */
  is_ready: v.boolean(),
  /** Where the image says that its source is; a second source for release notes. */
  repository: v.nullable(RepositoryView),
  /** How many of the proposed targets' services follow it. */
  service_count: v.number(),
  newest: NewestView,
});
export type ProposedTrackerView = v.InferOutput<typeof ProposedTrackerView>;

const ProposedServiceView = v.object({
  name: v.string(),
  image: v.string(),
  tag: v.nullable(v.string()),
  state: TargetServiceView.entries.state,
  /** The key of its tracker; null if it is left alone, for `reason`. */
  tracker: v.nullable(v.string()),
  reason: v.nullable(ProblemSchema),
  /** Narrower lines that it could stay on instead: `10` and `10.1` for `10.1.0`. */
  lines: v.array(v.string()),
  /** Its tag names a line, such as `7`: an update replaces it with the tag of a version. */
  names_line: v.boolean(),
  /** Whether it runs the newest version; false while unknown. */
  is_newest: v.boolean(),
  /** How far it is behind the newest version; null while unknown. */
  behind: v.nullable(BehindView),
});

export const ProposedTargetView = v.object({
  kind: v.string(),
  id: v.string(),
  name: v.string(),
  title: v.string(),
  title_data: MessageSchema,
  is_group: v.boolean(),
  namespace: v.nullable(v.string()),
  /** The proposed name of its executor. */
  executor_name: v.string(),
  services: v.array(ProposedServiceView),
  warnings: v.array(ProblemSchema),
  is_ready: v.boolean(),
  /** Everything that was shown of it; an adoption names it and is refused if it has changed. */
  hash: v.string(),
});
export type ProposedTargetView = v.InferOutput<typeof ProposedTargetView>;

const NamedTarget = { kind: v.string(), id: v.string(), name: v.string() };

export const AdoptionProposalsView = v.object({
  connection: v.object({ id: v.string(), name: v.string() }),
  /** At most `limit`; `matching` counts all of them. */
  targets: v.array(ProposedTargetView),
  matching: v.number(),
  /** Those of the targets above. */
  trackers: v.array(ProposedTrackerView),
  /** Targets that cannot be adopted, and why. */
  refused: v.array(v.object({ ...NamedTarget, reasons: v.array(ProblemSchema) })),
  ignored: v.array(v.object({ ...NamedTarget, ignored_id: v.string(), ignored_at: Instant })),
  namespaces: v.array(v.string()),
  counts: v.object({ new: v.number(), adopted: v.number(), refused: v.number(), ignored: v.number() }),
  discovered_at: NullableInstant,
});
export type AdoptionProposalsView = v.InferOutput<typeof AdoptionProposalsView>;

const TargetKindInput = v.pipe(v.string(), v.minLength(1), v.maxLength(50));
const TargetIdInput = v.pipe(v.string(), v.minLength(1), v.maxLength(300));

export const AdoptionInput = v.strictObject({
  targets: v.pipe(
    v.array(
      v.strictObject({
        kind: TargetKindInput,
        id: TargetIdInput,
        hash: v.pipe(v.string(), v.maxLength(64), v.description("As in the proposal")),
        name: v.optional(v.pipe(Name, v.description("The executor's name; as proposed if omitted"))),
        trigger: v.optional(v.picklist(adoptionTriggers)),
        lines: v.optional(
          v.pipe(
            v.array(
              v.strictObject({
                service: v.pipe(v.string(), v.maxLength(300)),
                line: v.pipe(v.string(), v.maxLength(100), v.description("One of the service's `lines`")),
              }),
            ),
            v.maxLength(100),
            v.description("Narrower lines for services to stay on; as proposed for the others"),
          ),
          [],
        ),
      }),
    ),
    v.minLength(1),
    v.maxLength(maxProposedTargets),
  ),
  trackers: v.optional(
    v.pipe(
      v.array(
        v.strictObject({
          key: v.pipe(v.string(), v.maxLength(64)),
          name: v.optional(v.pipe(v.string(), v.maxLength(100))),
          by_version: v.optional(
            v.pipe(v.boolean(), v.description("Follow numbered versions instead of a moving tag")),
            false,
          ),
          follow_repository: v.optional(
            v.pipe(v.boolean(), v.description("Add its repository as a second source, for release notes")),
          ),
        }),
      ),
      v.maxLength(maxProposedTargets * 4),
    ),
    [],
  ),
  /** For targets without a trigger of their own. */
  trigger: v.optional(v.picklist(adoptionTriggers), "manual"),
  follow_repositories: v.optional(
    v.pipe(v.boolean(), v.description("Whether trackers without a choice of their own get their repository")),
    true,
  ),
  credentials: v.optional(
    v.pipe(
      v.array(
        v.strictObject({
          registry: v.pipe(v.string(), v.maxLength(300)),
          credential_id: v.pipe(v.string(), v.maxLength(64)),
        }),
      ),
      v.maxLength(100),
      v.description("Credentials for new trackers, by registry"),
    ),
    [],
  ),
});
export type AdoptionInput = v.InferOutput<typeof AdoptionInput>;

export const AdoptionView = v.object({
  /** `is_new` is false for a target that already had this executor. */
  adopted: v.array(
    v.object({ ...NamedTarget, executor: v.object({ id: v.string(), name: v.string() }), is_new: v.boolean() }),
  ),
  /** What was not adopted: `changed`, `gone`, `refused`, or the code of the error. */
  refused: v.array(v.object({ ...NamedTarget, code: v.string(), message: v.string(), message_data: MessageSchema })),
  /** The names of the trackers that were created. */
  trackers: v.array(v.string()),
});
export type AdoptionView = v.InferOutput<typeof AdoptionView>;

export const IgnoredTargetsInput = v.strictObject({
  targets: v.pipe(
    v.array(v.strictObject({ kind: TargetKindInput, id: TargetIdInput })),
    v.minLength(1),
    v.maxLength(maxProposedTargets),
  ),
});

export const IgnoredTargetsView = v.object({
  items: v.array(
    v.object({ id: v.string(), kind: v.string(), target: v.string(), name: v.string(), ignored_at: Instant }),
  ),
});
export type IgnoredTargetsView = v.InferOutput<typeof IgnoredTargetsView>;
