import { setImmediate as nextTurn } from "node:timers/promises";
import { AppError, PluginError, SaidError } from "../../errors.ts";
import { type Message, say, withTexts } from "../../messages/message.ts";
import type { Parts } from "../../parts.ts";
import type { Listing, OpenSource, UpstreamRelease } from "../../sources/source.ts";
import { type Changelog, ChangelogError, formatOfPath, openChangelog } from "../../versions/changelog.ts";
import { classify } from "../../versions/classify.ts";
import { fillPath, TemplateError } from "../../versions/placeholders.ts";
import type { TrackerRow } from "../queries.ts";
import { plainVersion } from "../releases/display.ts";
import type { ChangelogFinding, ChangelogNotes } from "../releases/facts.ts";
import { type ReleaseFactsRow, releasesOfVersion } from "../releases/queries.ts";
import { type SourceRow, sourcesOf } from "../source-queries.ts";
import { addressOf, openSource, type SourceOpener, type SourceSession } from "../upstreams/source-session.ts";
import { type ChangelogSettings, changelogSource, storedNotesSettings } from "./settings.ts";

/** A template path can name a file per version: the next checks read the others. */
export const maxFilesPerCheck = 10;
/** For all files of a check: notes must not delay its findings. */
const notesLimitMs = 60_000;
/** Retries after a failure: after 10 minutes, then doubling, for about a month. */
const firstRetryMs = 10 * 60_000;
const maxRetries = 12;

interface NotesOptions extends SourceOpener, Pick<Parts, "db" | "clock" | "log"> {
  /** Upstream text without secrets, at most 500 characters. */
  excerpt: (text: string) => string;
}

interface CheckedSource {
  tracker: TrackerRow;
  source: SourceRow;
  known: readonly ReleaseFactsRow[];
}

/** How many retries are due after this time. */
function retriesAfter(ms: number): number {
  return ms < firstRetryMs ? 0 : Math.min(Math.floor(Math.log2(ms / firstRetryMs)) + 1, maxRetries);
}

/** Whether a retry fell due since the last check; computed from the discovery time, so nothing needs to be stored. */
export function isRetryDue(firstObservedAt: number, lastCheckAt: number | null, now: number): boolean {
  const before = lastCheckAt === null ? 0 : retriesAfter(lastCheckAt - firstObservedAt);
  return retriesAfter(now - firstObservedAt) > before;
}

/** Releases whose changelog is still to be read, newest first. */
function wantedReleases({ source, known }: CheckedSource, listing: Listing, now: number): readonly UpstreamRelease[] {
  const rows = new Map(known.map((row) => [row.tag, row]));
  return listing.releases
    .filter((release) => {
      const row = rows.get(release.tag);
      if (row === undefined || (release.revision !== null && release.revision !== row.revision)) return true;
      if (row.notes_digest !== null) return false;
      return row.notes_error === null || isRetryDue(row.first_observed_at, source.last_success_at, now);
    })
    .toSorted((a, b) => (b.published_at ?? 0) - (a.published_at ?? 0));
}

/** The changelog's name for a release: for an image's moving tag, the version in its label. */
function versionOf(release: UpstreamRelease): string {
  const isMoving = classify(release.tag).scheme === "floating";
  return (isMoving ? release.labelled_version : null) ?? release.version;
}

class MissingFile extends SaidError {
  constructor(path: string, ref: string | null) {
    super(ref === null ? say("changelogs.no_file", { path }) : say("changelogs.no_file_at", { path, ref }));
  }
}

interface FileReader {
  /** Null when the check may read no more files. Throws like `readFile`, and MissingFile and ChangelogError. */
  open(path: string, ref: string | null): Promise<Changelog | null>;
}

/** Reads each file once, and at most `maxFilesPerCheck`. */
function fileReader(source: OpenSource): FileReader {
  const files = new Map<string, Promise<Changelog>>();
  const read = async (path: string, ref: string | null): Promise<Changelog> => {
    const text = (await source.readFile?.(path, ref)) ?? null;
    if (text === null) throw new MissingFile(path, ref);
    return openChangelog(text, formatOfPath(path));
  };
  return {
    open: async (path, ref) => {
      const key = JSON.stringify([path, ref]);
      const known = files.get(key);
      if (known === undefined && files.size >= maxFilesPerCheck) return null;
      const file = known ?? read(path, ref);
      files.set(key, file);
      return await file;
    },
  };
}

/**
 * Reads release notes from a file in a repository, for releases of a listing without notes. Never fails the check: each release states why
 * its notes are missing.
 */
export function changelogReader(options: NotesOptions) {
  const { db, clock, log, excerpt } = options;

  /** Possible names of the tag in the changelog's own repository, when the release comes from another source. */
  const tagsIn = async (
    repository: SourceRow,
    checked: SourceRow,
    release: UpstreamRelease,
  ): Promise<readonly string[]> => {
    if (repository.id === checked.id) return [release.tag];
    const plain = plainVersion(versionOf(release));
    for (const version of [plain, `v${plain}`, `V${plain}`]) {
      const [row] = await releasesOfVersion(db.read, [repository.id], version);
      if (row !== undefined) return [row.tag];
    }
    return classify(plain).shape === null ? [release.tag] : [`v${plain}`, plain];
  };

  const describe = (error: unknown): Message => {
    if (isOfOneFile(error)) return withTexts(error.said, excerpt);
    if (error instanceof PluginError || error instanceof AppError) {
      return withTexts(say("changelogs.unreadable", { cause: error.said }), excerpt);
    }
    log.error("Changelog could not be read", { error });
    return say("changelogs.internal");
  };

  const readOne = async (
    settings: ChangelogSettings,
    files: FileReader,
    release: UpstreamRelease,
    tags: readonly string[],
  ): Promise<ChangelogNotes | null> => {
    const [tag = release.tag, ...others] = tags;
    const version = versionOf(release);
    const path = fillPath(settings.path_template, { tag, version });
    const refs = { default_branch: null, release_tag: tag, specific: settings.specific_ref };
    try {
      const changelog = await files.open(path, refs[settings.ref]);
      if (changelog === null) return null;
      await nextTurn();
      const { extraction: mode, heading_template, subheading } = settings;
      return { notes: changelog.extract({ tag, version, mode, heading_template, subheading }), error: null };
    } catch (error) {
      if (!(error instanceof MissingFile) || others.length === 0) throw error;
      return await readOne(settings, files, release, others);
    }
  };

  const readAll = async (
    settings: ChangelogSettings,
    wanted: readonly UpstreamRelease[],
    opened: { session: SourceSession; repository: SourceRow; checked: SourceRow },
  ): Promise<Map<string, ChangelogNotes>> => {
    const found = new Map<string, ChangelogNotes>();
    const files = fileReader(opened.session.source);
    for (const [position, release] of wanted.entries()) {
      try {
        const tags = await tagsIn(opened.repository, opened.checked, release);
        const notes = await readOne(settings, files, release, tags);
        if (notes !== null) found.set(release.tag, notes);
      } catch (error) {
        const failure = { notes: null, error: describe(error) };
        found.set(release.tag, failure);
        if (isOfOneFile(error) || (error instanceof PluginError && error.code === "not_found")) continue;
        // An upstream that fails now is not asked again.
        for (const other of wanted.slice(position + 1)) found.set(other.tag, failure);
        break;
      }
    }
    return found;
  };

  /**
   * What the changelog says about the listing's releases; null when the tracker uses the releases' own notes. `onSession` receives the
   * request counter.
   */
  return async (
    checked: CheckedSource,
    listing: Listing,
    given: { signal: AbortSignal; onSession: (session: SourceSession) => void },
  ): Promise<ChangelogFinding> => {
    const settings = storedNotesSettings(checked.tracker.release_notes);
    if (settings.source === "release") return null;
    const wanted = wantedReleases(checked, listing, clock.now());
    if (wanted.length === 0) return new Map();
    const rows = await sourcesOf(db.read, [checked.tracker.id]);
    const keyed = rows.map((row) => ({ row, key: row.key, kind: row.kind }));
    const repository = changelogSource(settings, keyed, options.registry);
    if (repository === null) return all(wanted, say("changelogs.no_repository"));
    const overdue = new AbortController();
    const ended = new AbortController();
    clock.sleep(notesLimitMs, ended.signal).then(
      () => overdue.abort(),
      () => "read in time",
    );
    try {
      const { row } = repository;
      const timeout_ms = Math.min(checked.tracker.request_timeout_seconds * 1000, notesLimitMs);
      const signal = AbortSignal.any([given.signal, overdue.signal]);
      const session = await openSource(options, addressOf(options.registry, row), { timeout_ms, signal });
      given.onSession(session);
      return await readAll(settings, wanted, { session, repository: row, checked: checked.source });
    } catch (error) {
      return all(wanted, describe(error));
    } finally {
      ended.abort();
    }
  };
}

/** An error that says nothing about the files of other releases. */
function isOfOneFile(error: unknown): error is SaidError {
  return error instanceof ChangelogError || error instanceof TemplateError || error instanceof MissingFile;
}

function all(wanted: readonly UpstreamRelease[], error: Message): Map<string, ChangelogNotes> {
  return new Map(wanted.map(({ tag }) => [tag, { notes: null, error }]));
}
