import { createHash } from "node:crypto";
import { RecentMap } from "../../recent-map.ts";
import type { Repository } from "./repository.ts";
import type { OciSecret } from "./schema.ts";

/** What a registry wants to see on each request to one repository. */
export type Method =
  | { kind: "none" }
  | { kind: "basic" }
  | { kind: "bearer"; realm: string; service: string | null; scope: string };

/** What is known of one repository under one credential. `expires_at` is as `Clock.elapsed` counts. */
export interface Access {
  method: Method;
  token: { value: string; expires_at: number } | null;
}

/** Access by repository and credential, so that a check begins with the token of the last one and not with a refusal. */
export interface AccessCache {
  find(repository: Repository, secret: OciSecret | null): Access | null;
  store(repository: Repository, secret: OciSecret | null, access: Access): void;
}

// The key holds no secret: a heap dump or a log of this map shows a digest.
function keyOf({ origin, name }: Repository, secret: OciSecret | null): string {
  if (secret === null) return `${origin} ${name}`;
  const who = JSON.stringify([secret.username, secret.password]);
  return createHash("sha256")
    .update(JSON.stringify([origin, name, who]))
    .digest("base64");
}

/** A cache of at most `limit` repositories in memory; the least recently used one goes first. */
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
