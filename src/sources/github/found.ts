import type { ReleaseStage } from "../source.ts";

/** A release or bare tag as it was read. Drafts and releases without a publish time never become one. */
export interface Found {
  tag: string;
  stage: ReleaseStage;
  /** Milliseconds UTC; null only for bare tags. */
  published_at: number | null;
  revision: string | null;
  url: string | null;
  notes: string | null;
}

export interface FoundPage {
  found: readonly Found[];
  hasMore: boolean;
}

export function isObjectId(text: unknown): text is string {
  return typeof text === "string" && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** Where a person sees a bare tag; `web` is the repository's page. */
export function tagPage(web: string, tag: string): string {
  return `${web}/releases/tag/${tag.split("/").map(encodeURIComponent).join("/")}`;
}
