import { createHash } from "node:crypto";
import * as v from "valibot";
import type { ListRequest, ReleaseStage } from "../source.ts";

/** Releases that are remembered, the newest first: as many as one check reads. */
export const maxRemembered = 1_000;
const form = "forge-list-1";

const stages = ["release", "prerelease", "tag"] as const;
/**
 * `placed`: it was returned and had a place within the depth, so the caller stored it or has pruned it since. `gone`: it is no longer
 * where it was listed, and remembered so that it is not announced if it comes back. `missing`: it was requested by name and does not
 * exist.
 */
const standings = ["listed", "placed", "gone", "missing"] as const;

/** A release as a check last read it. */
export interface Remembered {
  tag: string;
  stage: ReleaseStage;
  /** Milliseconds UTC. */
  published_at: number | null;
  standing: (typeof standings)[number];
}

/** How far a list was read: to its end, as far as a check ever reads, or only as far as needed. */
export type Extent = "whole" | "bound" | "part";

/** What a check remembers of the list, so that the next one reads only its newest page. */
export interface Memo {
  list: "releases" | "tags";
  /** In upstream's order, the newest first; at the end those that are gone. */
  entries: readonly Remembered[];
  extent: Extent;
  /** Upstream's own count; null if it gave none. */
  total: number | null;
  /** Identifies the caller's request (`questionOf`). */
  question: string;
}

const Count = v.nullable(v.number());
const List = v.picklist(["releases", "tags"]);

const Stored = v.object({
  form: v.literal(form),
  list: List,
  extent: v.picklist(["whole", "bound", "part"]),
  total: Count,
  question: v.string(),
  entries: v.array(v.tuple([v.string(), v.picklist(stages), Count, v.picklist(standings)])),
});

/** Forms that earlier versions wrote, one for each forge. */
const EarlierGithub = v.object({
  form: v.literal("github-2"),
  kind: List,
  is_whole: v.boolean(),
  seen: v.array(v.tuple([v.string(), v.picklist(stages), Count])),
});
const EarlierGitea = v.object({
  form: v.literal("gitea-releases-1"),
  total: Count,
  oldest: Count,
  is_whole: v.boolean(),
  is_exhausted: v.boolean(),
  seen: v.array(v.tuple([v.string(), v.picklist(stages), v.boolean()])),
});
const AnyStored = v.pipe(v.string(), v.parseJson(), v.variant("form", [Stored, EarlierGithub, EarlierGitea]));

/** One line: the form, the extent, the count, and each tag after the initial of its stage. */
function fromGitlab(text: string): Memo {
  const [, extent, total = "", ...words] = text.split(" ");
  const entries = words.flatMap((word): Remembered[] => {
    const stage = stages.find((name) => name.startsWith(word.charAt(0).toLowerCase()));
    return word === "" || stage === undefined
      ? []
      : [{ tag: word.slice(1), stage, published_at: null, standing: "listed" }];
  });
  return {
    list: entries.some(({ stage }) => stage === "tag") ? "tags" : "releases",
    entries,
    extent: extent === "whole" ? "whole" : "part",
    total: /^\d{1,9}$/.test(total) ? Number(total) : null,
    question: "",
  };
}

function fromStored(stored: v.InferOutput<typeof AnyStored>): Memo {
  switch (stored.form) {
    case form:
      return {
        ...stored,
        entries: stored.entries.map(([tag, stage, published_at, standing]) => ({ tag, stage, published_at, standing })),
      };
    case "github-2":
      return {
        list: stored.kind,
        entries: stored.seen.map(([tag, stage, published_at]) => ({ tag, stage, published_at, standing: "listed" })),
        extent: stored.is_whole ? "whole" : "part",
        total: null,
        question: "",
      };
    case "gitea-releases-1": {
      const { oldest: published_at, is_whole, is_exhausted, total, seen } = stored;
      const rest = is_exhausted ? "bound" : "part";
      return {
        list: "releases",
        // Only the earliest time was kept.
        entries: seen.map(([tag, stage]) => ({ tag, stage, published_at, standing: "listed" })),
        extent: is_whole ? "whole" : rest,
        total,
        question: "",
      };
    }
  }
}

/** What the last check left; null if there was none, or if it is in another form. */
export function parseMemo(text: string | null): Memo | null {
  if (text?.startsWith("gitlab-list-1 ") === true) return fromGitlab(text);
  const stored = v.safeParse(AnyStored, text);
  return stored.success ? fromStored(stored.output) : null;
}

export function formatMemo({ entries, extent, ...facts }: Memo): string {
  const isCut = entries.findLastIndex(isListed) >= maxRemembered;
  return JSON.stringify({
    form,
    ...facts,
    extent: isCut && extent === "whole" ? "bound" : extent,
    entries: entries
      .slice(0, maxRemembered)
      .map(({ tag, stage, published_at, standing }) => [tag, stage, published_at, standing]),
  });
}

export function isListed({ standing }: Remembered): boolean {
  return standing === "listed" || standing === "placed";
}

/** Equal for requests that ask for the same: what one of them returned need not be returned again. */
export function questionOf({ limit, most_each, rules }: ListRequest): string {
  const question = JSON.stringify([limit, most_each ?? limit, rules ?? null]);
  return createHash("sha256").update(question).digest("base64url").slice(0, 16);
}

/** What of the memory applies to a request for this list. */
export function recall(memo: Memo | null, request: ListRequest, list: Memo["list"]): Memo | null {
  if (memo === null) return null;
  // Only the names of another list are of use.
  if (memo.list !== list)
    return {
      ...memo,
      extent: "whole",
      total: null,
      entries: memo.entries.map((entry) => ({ ...entry, standing: "gone" })),
    };
  if (memo.question === questionOf(request)) return memo;
  return {
    ...memo,
    entries: memo.entries.map((entry) => (isListed(entry) ? { ...entry, standing: "listed" } : entry)),
  };
}

/** Tags replace releases only if there never were any: an emptied list is no reason to announce tags. */
export function hadReleases(memory: Memo | null): boolean {
  return memory !== null && memory.list === "releases" && memory.entries.length > 0;
}
