import { createHash } from "node:crypto";
import { RecentMap } from "../../recent-map.ts";
import type { Repository } from "./repository.ts";
import type { OciSecret } from "./schema.ts";

/** The authorization that a registry wants on each request to one repository. */
export type Method =
  | { kind: "none" }
  | { kind: "basic" }
  | { kind: "bearer"; realm: string; service: string | null; scope: string };

/** The access to one repository with one credential. `expires_at` is in the time of `Clock.elapsed`. */
export interface Access {
  method: Method;
  token: { value: string; expires_at: number } | null;
}

/** Access by repository and credential, so that a check starts with the last token instead of a refusal. */
export interface AccessCache {
  find(repository: Repository, secret: OciSecret | null): Access | null;
  store(repository: Repository, secret: OciSecret | null, access: Access): void;
}

// A digest, so that a heap dump or log of this map shows no secret.
function keyOf({ origin, name }: Repository, secret: OciSecret | null): string {
  if (secret === null) return `${origin} ${name}`;
  const who = JSON.stringify([secret.username, secret.password]);
  return createHash("sha256")
    .update(JSON.stringify([origin, name, who]))
    .digest("base64");
}

/** A cache of at most `limit` repositories in memory; the least recently used one is dropped first. */
export function accessCache(limit = 2_000): AccessCache {
  const entries = new RecentMap<string, Access>(limit);
  return {
    find(repository, secret) {
      return entries.get(keyOf(repository, secret)) ?? null;
    },
    store(repository, secret, access) {
      entries.set(keyOf(repository, secret), access);
    },
  };
}
