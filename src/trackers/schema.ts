import * as v from "valibot";
import { type AppError, inUse } from "../errors.ts";
import { Description, Instant, Name, NullableInstant } from "../forms/inputs.ts";
import type { ListShape } from "../forms/page.ts";
import { issue, type Message, say, toText } from "../messages/message.ts";
import { ProblemSchema } from "../messages/schema.ts";
import { sources } from "../sources/index.ts";
import { isSourceKind, type Source, type SourceKind, sourceKinds } from "../sources/source.ts";
import { sortings } from "../versions/channel.ts";
import { laterButOlder } from "../versions/older-lines.ts";
import { includePatternError, MAX_PATTERN_CHARACTERS, PatternError, parsePattern } from "../versions/pattern.ts";
import { ReleaseNotes } from "./notes/settings.ts";

export type SourceRegistry = { readonly [K in SourceKind]: Source<K> };

export const channelTypes = ["stable", "prerelease", "beta", "canary"] as const;
export type ChannelType = (typeof channelTypes)[number];

const channelTypeTitles: Readonly<Record<ChannelType, string>> = {
  stable: "Stable",
  prerelease: "Pre-release",
  beta: "Beta",
  canary: "Canary",
};

export function isChannelType(word: unknown): word is ChannelType {
  return channelTypes.some((type) => type === word);
}

const maxChannelNameCharacters = 50;
/** Blank stands for the type's name. */
const channelNameForm = /^([a-z0-9][a-z0-9.-]*)?$/;

/** Whether a channel of this type may have this name: a type's own name is reserved for channels of that type. */
export function isChannelName(name: string, type: ChannelType): boolean {
  const isFormed = name !== "" && name.length <= maxChannelNameCharacters && channelNameForm.test(name);
  return isFormed && (name === type || !isChannelType(name));
}

export const ChannelName = v.pipe(
  v.string(),
  v.maxLength(maxChannelNameCharacters),
  v.regex(channelNameForm, issue("trackers.channel_name_form")),
);

/** `checking`: a check is running; `pending`: none has ended yet. */
const sourceStates = ["ok", "failing", "pending", "checking"] as const;
export type SourceState = (typeof sourceStates)[number];

const maxSources = 20;
/** They share the fetch depth of their source, and each judges every tag. */
const maxChannels = 10;
const maxIntervalMinutes = 43_200;

/** Part of addresses: letters, digits, dots, dashes and underscores of any script. */
const TrackerName = v.pipe(
  Name,
  v.normalize("NFC"),
  v.regex(/^[\p{L}\p{N}][\p{L}\p{N}\p{M}._-]*$/u, issue("trackers.name_form")),
  v.check((name) => name.toLowerCase() !== "new", issue("trackers.name_new")),
  v.check((name) => name.toLowerCase() !== "import", issue("trackers.name_import")),
  v.title("Tracker name"),
  v.description("Part of the tracker's address. It cannot be changed later"),
  v.metadata({ immutable: true, placeholder: "nginx" }),
);

const pattern = (
  title: string,
  description: string,
  placeholder: string,
  explain: (text: string, error: PatternError) => Message = (_, error) => error.said,
) =>
  v.optional(
    v.pipe(
      v.string(),
      v.maxLength(MAX_PATTERN_CHARACTERS),
      v.rawCheck(({ dataset, addIssue }) => {
        if (!dataset.typed || dataset.value.length > MAX_PATTERN_CHARACTERS || dataset.value.trim() === "") return;
        try {
          parsePattern(dataset.value);
        } catch (error) {
          if (!(error instanceof PatternError)) throw error;
          addIssue({ message: toText(explain(dataset.value, error)) });
        }
      }),
      v.title(title),
      v.description(description),
      v.metadata({ code: true, placeholder }),
    ),
    "",
  );

const channelEntries = {
  type: v.pipe(
    v.picklist(channelTypes),
    v.title("Release channel type"),
    v.metadata({ option_titles: channelTypeTitles }),
  ),
  name: v.optional(
    v.pipe(
      ChannelName,
      v.title("Release channel name"),
      v.description(
        "Distinguishes channels of one type, for example 16 and 17. Executors follow a channel by its name",
      ),
      v.metadata({ code: true, placeholder: "same as its type" }),
    ),
    "",
  ),
  include_pattern: pattern(
    "Include pattern",
    "Only matching tags are tracked. Blank takes all. No lookaround: what to leave out goes in the exclude pattern",
    "^v?\\d+\\.\\d+\\.\\d+$",
    includePatternError,
  ),
  exclude_pattern: pattern(
    "Exclude pattern",
    "Matching tags are left out, even if the include pattern matches them. `rc` does what `^(?!.*rc)` does elsewhere",
    "-(alpha|beta|rc)",
  ),
  requires_agreement: v.pipe(
    v.optional(v.boolean(), false),
    v.title("Only when all sources agree"),
    v.description("A version becomes the latest once every source of the tracker has it in its channel of this name"),
    v.metadata({ advanced: true }),
  ),
};
const typedChannelEntries = {
  type: channelEntries.type,
  name: channelEntries.name,
  release_type: v.pipe(
    v.optional(v.nullable(v.picklist(["release", "prerelease"])), null),
    v.title("Release type"),
    v.description("Includes only versions that upstream marks this way"),
    v.metadata({ option_titles: { release: "Release", prerelease: "Pre-release" } }),
  ),
  include_pattern: channelEntries.include_pattern,
  exclude_pattern: channelEntries.exclude_pattern,
  requires_agreement: channelEntries.requires_agreement,
};

/** Refuses a value of `member` that an earlier entry has; the issue is at the later one. */
function unique<T extends object>(member: keyof T & string, said: (value: string) => string) {
  return v.rawCheck<T[]>(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const seen = new Set<unknown>();
    for (const [position, entry] of dataset.value.entries()) {
      const value = entry[member];
      if (seen.has(value)) {
        addIssue({
          message: said(String(value)),
          path: [
            { type: "array", origin: "value", input: dataset.value, key: position, value: entry },
            { type: "object", origin: "value", input: Object.fromEntries(Object.entries(entry)), key: member, value },
          ],
        });
      }
      seen.add(value);
    }
  });
}

function channelList(hasReleaseTypes: boolean) {
  const entry = v.pipe(
    hasReleaseTypes ? v.strictObject(typedChannelEntries) : v.strictObject(channelEntries),
    v.forward(
      v.check(
        ({ name, type }) => name === type || !isChannelType(name),
        ({ input }) => issue("trackers.channel_name_of_type", { type: input.name }),
      ),
      ["name"],
    ),
    v.transform((channel) => ({ ...channel, name: channel.name || channel.type })),
  );
  return v.pipe(
    v.array(entry),
    v.minLength(1, issue("trackers.channels_wanted")),
    v.maxLength(maxChannels),
    unique<v.InferOutput<typeof entry>>("name", (name) => issue("trackers.channel_name_taken", { name })),
    v.title("Release channels"),
  );
}

const SourceKey = v.pipe(
  v.string(),
  v.maxLength(50),
  v.regex(/^[a-z0-9][a-z0-9-]*$/, issue("trackers.source_key_form")),
  v.title("Source key"),
  v.description("Name of this source in the tracker. Keep the key to keep its history and executor bindings"),
  v.metadata({ code: true, placeholder: "main" }),
);

const CredentialId = v.pipe(
  v.optional(v.nullable(v.pipe(v.string(), v.maxLength(64, issue("trackers.credential_id_invalid")))), null),
  v.title("Credential"),
  v.description("For private sources. A credential of the same type"),
);

function kindEntry(kind: SourceKind, registry: SourceRegistry) {
  return v.pipe(
    v.literal(kind),
    v.title("Source type"),
    v.metadata({
      option_titles: Object.fromEntries(Object.values(registry).map((source) => [source.kind, source.title])),
    }),
  );
}

function sourceEntries(source: Source, registry: SourceRegistry) {
  return {
    kind: kindEntry(source.kind, registry),
    config: v.pipe(source.Config, v.title("Location")),
    credential_id: CredentialId,
    channels: channelList(source.has_release_types === true),
  };
}

const Sorting = v.pipe(
  v.picklist(sortings),
  v.title("Choose latest by"),
  v.description(
    "By publish time: the newest tag of the leading family, releases before candidates. By version: for projects that patch older lines, whose patches then do not count as latest",
  ),
  v.metadata({ option_titles: { publish_time: "By publish time", semantic: "By semantic version" } }),
);

const whole = (title: string, description: string, min: number, max: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max), v.title(title), v.description(description));

const preferenceEntries = {
  check_interval_minutes: whole("Check interval (minutes)", "", 1, maxIntervalMinutes),
  fetch_depth: whole(
    "Versions per check",
    "The fetch depth: how many versions a check keeps per source, shared by its channels. Each channel keeps at least one and at most the versions to keep in the settings",
    1,
    100,
  ),
  request_timeout_seconds: whole("Request timeout (s)", "Per network request", 1, 180),
  sorting: Sorting,
  release_fallback: v.pipe(
    v.boolean(),
    v.title("Release fallback"),
    v.description("Uses git tags while upstream has no releases. Stops permanently after the first release"),
    v.metadata({ advanced: true }),
  ),
};
const isEnabled = v.pipe(v.boolean(), v.title("Enabled"));

/** The schemas that depend on the source kinds; adding a kind changes nothing here. */
export function trackerSchemas(registry: SourceRegistry) {
  const kinds = sourceKinds.map((kind) => registry[kind]);
  const SourceInput = v.variant(
    "kind",
    kinds.map((source) => v.strictObject({ key: SourceKey, ...sourceEntries(source, registry) })),
  );
  const SourceList = v.pipe(
    v.array(SourceInput),
    v.minLength(1, issue("trackers.sources_wanted")),
    v.maxLength(maxSources),
    unique<v.InferOutput<typeof SourceInput>>("key", (key) => issue("trackers.source_key_taken", { key })),
    v.title("Sources"),
  );
  const preferences = {
    check_interval_minutes: v.optional(preferenceEntries.check_interval_minutes, 360),
    fetch_depth: v.optional(preferenceEntries.fetch_depth, 10),
    request_timeout_seconds: v.optional(preferenceEntries.request_timeout_seconds, 15),
    sorting: v.optional(preferenceEntries.sorting, "publish_time"),
    release_fallback: v.optional(preferenceEntries.release_fallback, false),
  };
  return {
    TrackerInput: v.strictObject({
      name: TrackerName,
      is_enabled: v.optional(isEnabled, true),
      sources: SourceList,
      ...preferences,
      description: Description,
      release_notes: v.optional(ReleaseNotes, { source: "release" }),
    }),
    /** A field left out keeps its value. `sources` is the whole list; a source keeps its data by its key. */
    TrackerPatch: v.partial(
      v.strictObject({
        name: TrackerName,
        description: Description.wrapped,
        is_enabled: isEnabled,
        sources: SourceList,
        ...preferenceEntries,
        release_notes: ReleaseNotes,
      }),
    ),
    PreviewInput: v.variant(
      "kind",
      kinds.map((source) =>
        v.strictObject({
          ...sourceEntries(source, registry),
          sorting: preferences.sorting,
          check_interval_minutes: preferences.check_interval_minutes,
          release_fallback: preferences.release_fallback,
        }),
      ),
    ),
  };
}

export const { TrackerInput, TrackerPatch, PreviewInput } = trackerSchemas(sources);
export type TrackerInput = v.InferOutput<typeof TrackerInput>;
export type TrackerPatch = v.InferOutput<typeof TrackerPatch>;
export type PreviewInput = v.InferOutput<typeof PreviewInput>;
export type SourceInput = TrackerInput["sources"][number];

export const ChannelTypeSchema = v.picklist(channelTypes);
const SortingSchema = v.picklist(sortings);

export const trackerList: ListShape = {
  sorts: ["name", "state", "checked"],
  filters: { state: [...sourceStates, "waiting", "disabled", "update"], channel: channelTypes, kind: sourceKinds },
  searched: "Part of a name, description or address",
};

/** As in the event of such a version. */
export const RemarkView = v.object({
  code: v.picklist(laterButOlder),
  params: v.object({ newest: v.string() }),
});

export const LatestView = v.object({
  version: v.string(),
  /** The common name in all sources of the tracker; for a chart beside other sources, its application's version. */
  display_version: v.string(),
  tag: v.string(),
  /** The version behind a moving tag such as `latest`; null for one that names a version itself, or when unknown. */
  stands_for: v.nullable(v.string()),
  revision: v.nullable(v.string()),
  published_at: NullableInstant,
  first_observed_at: Instant,
  /** Why it is not the newest version although it was published last; null when it is. */
  remark: v.nullable(RemarkView),
});

export const ChannelView = v.object({
  /** Unique within its source. */
  name: v.string(),
  type: ChannelTypeSchema,
  release_type: v.nullable(v.picklist(["release", "prerelease"])),
  include_pattern: v.string(),
  exclude_pattern: v.string(),
  requires_agreement: v.boolean(),
  /** The channel's latest; null while it has none. */
  latest: v.nullable(LatestView),
});
export type ChannelView = v.InferOutput<typeof ChannelView>;

export const SourceView = v.object({
  id: v.string(),
  key: v.string(),
  /** An unknown kind was stored by a later version. */
  kind: v.string(),
  config: v.record(v.string(), v.unknown()),
  credential_id: v.nullable(v.string()),
  host: v.string(),
  channels: v.array(ChannelView),
  state: v.picklist(sourceStates),
  /** Why the last check failed; null when it succeeded. A code of PluginError, `emptied`, `too_costly` or `internal`. */
  error: v.nullable(ProblemSchema),
  failing_since: NullableInstant,
  last_success_at: NullableInstant,
  last_checked_at: NullableInstant,
  /** When the next check is due; null while the tracker is disabled. */
  next_check_at: NullableInstant,
  /** Of the last check: requests sent, body bytes received, duration. */
  last_request_count: v.nullable(v.number()),
  last_byte_count: v.nullable(v.number()),
  last_duration_ms: v.nullable(v.number()),
  /** How many names upstream lists in all. */
  upstream_total: v.nullable(v.number()),
  /** The repository's new address according to upstream; null while it has not moved. */
  moved_to: v.nullable(v.string()),
  /** Requests per hour to its upstream at the set interval; zero while the tracker is disabled. */
  requests_per_hour: v.number(),
  /** Those of them that count towards the host's rate limit. */
  quota_per_hour: v.number(),
  /**
   * The earliest time for a due check while its upstream's rate limit is used up or its host does not respond; null when it need not wait.
   */
  waits_until: NullableInstant,
  /** Its host does not respond: it waits together with the host's other sources. */
  is_host_away: v.boolean(),
});
export type SourceView = v.InferOutput<typeof SourceView>;

export { sourceKinds };

/** Why a source of this kind fails, whatever its last check found; null for a kind that this version knows. */
export function kindProblem(kind: string): { code: "rejected"; said: Message } | null {
  return isSourceKind(kind) ? null : { code: "rejected", said: say("sources.kind_unknown", { kind }) };
}

export const TrackerView = v.object({
  id: v.string(),
  name: v.string(),
  description: v.string(),
  is_enabled: v.boolean(),
  check_interval_minutes: v.number(),
  fetch_depth: v.number(),
  request_timeout_seconds: v.number(),
  sorting: SortingSchema,
  release_fallback: v.boolean(),
  release_notes: ReleaseNotes,
  sources: v.array(SourceView),
  /** The worst of the sources' states. */
  state: v.picklist(sourceStates),
  executors: v.array(
    v.object({
      id: v.string(),
      name: v.string(),
      service: v.string(),
      source_key: v.string(),
      /** The channel's name. */
      channel: v.string(),
    }),
  ),
  created_at: Instant,
  updated_at: Instant,
});
export type TrackerView = v.InferOutput<typeof TrackerView>;

/** Each executor once, as named in the refusal to remove what it is bound to. */
export function namesOf(users: readonly { name: string }[]): readonly Message[] {
  const names = new Set(users.map((user) => user.name));
  return [...names].map((name) => say("request.named", { what: say("thing.executor"), name }));
}

/** Why a tracker cannot be deleted: the executors that follow it; null if there are none. */
export function whyKept(name: string, users: readonly { name: string }[]): AppError | null {
  return users.length === 0 ? null : inUse("tracker", name, namesOf(users));
}

export const CheckView = v.object({
  tracker: v.string(),
  requested_at: Instant,
  sources: v.array(
    v.object({
      key: v.string(),
      state: v.picklist(sourceStates),
      /** True until a check that began after the request has ended. */
      is_waiting: v.boolean(),
      error: v.nullable(ProblemSchema),
      last_checked_at: NullableInstant,
    }),
  ),
});
export type CheckView = v.InferOutput<typeof CheckView>;

/** How far one version is behind a newer one, over the known versions of its family. */
export const BehindView = v.object({
  /** Releases from the one to the other, the newer one included. */
  releases: v.number(),
  /** How many of these raised which number; null where the numbers are dates or builds. */
  steps: v.nullable(v.object({ major: v.number(), minor: v.number(), patch: v.number() })),
  /** Whole days between the publishing of both; null when a time is unknown. */
  days: v.nullable(v.number()),
  /** The known history has gaps: there may be more releases. */
  is_at_least: v.boolean(),
});
export type BehindView = v.InferOutput<typeof BehindView>;
