import type { Clock } from "../clock.ts";
import type { CredentialService } from "../credentials/service.ts";
import type { Reader, Writer } from "../db/client.ts";
import { AppError, inUse, invalidInput } from "../errors.ts";
import { newId } from "../ids.ts";
import { say } from "../messages/message.ts";
import type { BoundExecutor, BoundExecutors } from "./bound-executors.ts";
import { nextCheckAt } from "./checks/check.ts";
import { setMemo } from "./checks/queries.ts";
import { recomputeLatest } from "./checks/record-listing.ts";
import type { TrackerRow } from "./queries.ts";
import type { ChannelRulesInput } from "./releases/judge.ts";
import { deleteReleasesOf } from "./releases/queries.ts";
import { namesOf, type SourceInput } from "./schema.ts";
import { type ChannelRow, channelRows, channelsOf, type SourceRow, sourceRows, sourcesOf } from "./source-queries.ts";
import { identityOf, pluginOf, type SourceOpener } from "./upstreams/source-session.ts";

interface EditOptions extends Pick<SourceOpener, "registry"> {
  clock: Clock;
  credentials: Pick<CredentialService, "requireKind">;
  executors: BoundExecutors;
}

function releaseTypeOf(channel: ChannelRulesInput): ChannelRow["release_type"] {
  return channel.release_type ?? null;
}

/** Writes a tracker's sources and channels. Sources keep id, history and bindings by their key, channels by their name. */
export function sourceEditor(options: EditOptions) {
  const { clock, credentials, executors, registry } = options;

  const requireCredentials = async (read: Reader, inputs: readonly SourceInput[]): Promise<void> => {
    for (const [position, input] of inputs.entries()) {
      const field = `sources.${position}.credential_id`;
      await credentials.requireKind(read, input.kind, input.credential_id, field);
      const need = input.credential_id === null ? registry[input.kind].credentialNeed?.(input.config) : null;
      if (need !== null && need !== undefined) throw invalidInput({ [field]: need });
    }
  };

  const insertOne = async (tx: Writer, trackerId: string, input: SourceInput, position: number): Promise<void> => {
    const now = clock.now();
    const id = newId(now);
    await sourceRows.insert(tx, {
      id,
      tracker_id: trackerId,
      key: input.key,
      position,
      kind: input.kind,
      config: input.config,
      credential_id: input.credential_id,
      host: registry[input.kind].host(input.config),
      next_check_at: now,
    });
    await writeChannels(tx, id, input, []);
  };

  /** Returns whether any rule changed. */
  const writeChannels = async (
    tx: Writer,
    sourceId: string,
    { key, channels: inputs }: SourceInput,
    bound: readonly BoundExecutor[],
  ): Promise<boolean> => {
    let hasChanged = false;
    const stored = await channelsOf(tx, [sourceId]);
    for (const channel of stored) {
      if (inputs.some((input) => input.name === channel.name)) continue;
      const users = bound.filter((user) => user.source_id === sourceId && user.channel === channel.name);
      if (users.length > 0) {
        const values = { channel: channel.name, source: key, users: namesOf(users) };
        throw new AppError("in_use", 409, say("trackers.channel_in_use", values));
      }
      await channelRows.remove(tx, channel.id);
    }
    for (const [position, input] of inputs.entries()) {
      const release_type = releaseTypeOf(input);
      const { name, type, include_pattern, exclude_pattern, requires_agreement } = input;
      const rules = { type, release_type, include_pattern, exclude_pattern, requires_agreement };
      const known = stored.find((channel) => channel.name === name);
      if (known === undefined) {
        hasChanged = true;
        await channelRows.insert(tx, { id: newId(clock.now()), source_id: sourceId, name, position, ...rules });
        continue;
      }
      const isSame =
        known.type === type &&
        known.release_type === release_type &&
        known.include_pattern === include_pattern &&
        known.requires_agreement === requires_agreement &&
        known.exclude_pattern === exclude_pattern;
      // Releases that other rules let in were not published just now, so the next check records them silently.
      hasChanged ||= !isSame;
      await channelRows.update(tx, known.id, { position, ...rules, ...(isSame ? {} : { baseline_at: null }) });
    }
    return hasChanged;
  };

  /** What a changed address means for known releases: another upstream's history is a different one. */
  const updateOne = async (tx: Writer, row: SourceRow, input: SourceInput, position: number): Promise<void> => {
    const changes: Partial<SourceRow> = { position, credential_id: input.credential_id };
    const isSameConfig = JSON.stringify(row.config) === JSON.stringify(input.config);
    if (!isSameConfig) {
      const { kind } = row;
      const before = identityOf(options, { kind, config: row.config ?? {} });
      if (before !== identityOf(options, { kind, config: input.config })) await deleteReleasesOf(tx, row.id);
      Object.assign(changes, {
        config: input.config,
        host: pluginOf(registry, kind).host(input.config),
        baseline_at: null,
        moved_to: null,
      });
      await setMemo(tx, row.id, null);
    }
    if (!isSameConfig || row.credential_id !== input.credential_id) Object.assign(changes, restarted());
    await sourceRows.update(tx, row.id, changes);
  };

  /** A running check used the old address or rules: without its lease it writes nothing, and it is due again. */
  const restarted = (): Partial<SourceRow> => ({
    next_check_at: clock.now(),
    lease_owner: null,
    lease_until: null,
  });

  return {
    insertAll: async (tx: Writer, trackerId: string, inputs: readonly SourceInput[]): Promise<void> => {
      await requireCredentials(tx, inputs);
      for (const [position, input] of inputs.entries()) await insertOne(tx, trackerId, input, position);
    },

    replaceAll: async (tx: Writer, tracker: TrackerRow, inputs: readonly SourceInput[]): Promise<void> => {
      await requireCredentials(tx, inputs);
      const stored = await sourcesOf(tx, [tracker.id]);
      const bound = await executors.ofTrackers(tx, [tracker.id]);
      for (const row of stored) {
        if (inputs.some((input) => input.key === row.key)) continue;
        const users = bound.filter((user) => user.source_id === row.id);
        if (users.length > 0) throw inUse("source", row.key, namesOf(users));
        await sourceRows.remove(tx, row.id);
      }
      for (const [position, input] of inputs.entries()) {
        const row = stored.find((source) => source.key === input.key);
        if (row === undefined) {
          await insertOne(tx, tracker.id, input, position);
          continue;
        }
        if (row.kind !== input.kind) {
          const said = say("trackers.source_kind_kept", { key: row.key, kind: row.kind });
          throw invalidInput({ [`sources.${position}.kind`]: said });
        }
        await updateOne(tx, row, input, position);
        const hasChanged = await writeChannels(tx, row.id, input, bound);
        if (hasChanged && row.lease_owner !== null) await sourceRows.update(tx, row.id, restarted());
      }
    },

    /** After an edit: channels are recomputed from stored releases, and no check is due later than the interval allows. */
    settle: async (tx: Writer, tracker: TrackerRow): Promise<void> => {
      const now = clock.now();
      const changed = await recomputeLatest(tx, tracker);
      for (const row of await sourcesOf(tx, [tracker.id])) {
        await executors.wake(tx, row.id, changed.get(row.id) ?? [], now);
        if (row.last_error_code === "rate_limited") continue;
        const latest = nextCheckAt(row.id, tracker.check_interval_minutes, now);
        if (row.next_check_at > latest && row.lease_until === null) {
          await sourceRows.update(tx, row.id, { next_check_at: latest });
        }
      }
    },
  };
}
