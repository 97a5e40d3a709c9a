import { createHash } from "node:crypto";

/** A release as its repository's owner made it. Times are ISO 8601 with `Z`. */
export interface HubRelease {
  tag: string;
  is_draft?: boolean;
  is_prerelease?: boolean;
  /** The date of the commit: the REST list is sorted by it. */
  created_at: string;
  /** Null for a draft. */
  published_at: string | null;
  notes?: string | null;
  assets?: number;
}

export interface HubRepository {
  id: number;
  owner: string;
  name: string;
  /** `owner/name` that it had before; asking for one leads here. */
  former: string[];
  is_archived: boolean;
  /** Then only the owner's token sees it, drafts included. */
  is_private: boolean;
  releases: HubRelease[];
  /** By name: the tag objects, outermost first, and the commit at last. A lightweight tag is its commit alone. */
  tags: Map<string, { objects: readonly string[]; committed_at: string; tagged_at: string | null }>;
  /** By `ref:path`; the default branch is `main`. */
  files: Map<string, string>;
}

/** An object id that is always the same for one text. */
export function oid(text: string): string {
  return createHash("sha1").update(text).digest("hex");
}

let nextId = 1_000;

export function hubRepository(owner: string, name: string, given: Partial<HubRepository> = {}): HubRepository {
  nextId += 1;
  return {
    id: nextId,
    owner,
    name,
    former: [],
    is_archived: false,
    is_private: false,
    releases: [],
    tags: new Map(),
    files: new Map(),
    ...given,
  };
}

/** Adds a tag; `depth` 0 is lightweight, 1 annotated, more are tags of tags. Returns the commit. */
export function addTag(repository: HubRepository, name: string, at: string, depth = 0, commit = oid(`commit ${name}`)) {
  const objects = [...Array.from({ length: depth }, (_, level) => oid(`tag ${level} ${name}`)), commit];
  repository.tags.set(name, { objects, committed_at: at, tagged_at: depth === 0 ? null : at });
  return commit;
}

/** Adds a published release with its lightweight tag, unless told otherwise. Returns the commit. */
export function addRelease(
  repository: HubRepository,
  tag: string,
  at: string,
  given: Partial<HubRelease> = {},
): string {
  repository.releases.push({ tag, created_at: at, published_at: at, notes: `Notes of ${tag}`, ...given });
  return addTag(repository, tag, at);
}

/** `count` releases `v1.0.0`, `v1.1.0` … one a day from the first of January 2026, the last of them the newest. */
export function addReleases(repository: HubRepository, count: number, given: Partial<HubRelease> = {}): void {
  for (let index = 0; index < count; index += 1) {
    addRelease(repository, `v1.${index}.0`, new Date(Date.UTC(2026, 0, 1 + index)).toISOString(), given);
  }
}
