import { PluginError } from "../../../src/errors.ts";
import { github } from "../../../src/sources/github/github.ts";
import type { KnownRelease, Listing, ListRequest, OpenSource } from "../../../src/sources/source.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { realHttp } from "../../support/real-http.ts";
import { type HubRepository, hubRepository } from "./hub-content.ts";
import { startGithub } from "./stand-in-github.ts";

export const token = "ghp_token-of-the-tests";
export type Mode = "rest" | "graphql";

/** The whole way to a stand-in: the real bounded fetch with its ledger and store of answers, and a clock of its own. */
export async function githubWorld() {
  const clock = createFakeClock(Date.UTC(2026, 10, 20, 12));
  const hub = await startGithub(clock.now);
  hub.tokens.add(token);
  const http = realHttp(clock);
  const context = (credentialId: string | null) => http.open({ timeout_ms: 15_000, credential_id: credentialId });

  return {
    clock,
    hub,
    ledger: http.ledger,
    context,
    /** Adds a repository and returns it. */
    repository: (owner: string, name: string, given: Partial<HubRepository> = {}) => {
      const repository = hubRepository(owner, name, given);
      hub.repositories.push(repository);
      return repository;
    },
    /** Opens the source as a check does: anew each time. */
    open: (repository: string, mode: Mode, secret: { token: string } | null = { token }): OpenSource =>
      github.open(
        { repository, fetch_mode: mode, instance_url: hub.url },
        secret,
        context(secret === null ? null : "credential-1"),
      ),
    async [Symbol.asyncDispose]() {
      http.close();
      await hub[Symbol.asyncDispose]();
    },
  };
}

export type GithubWorld = Awaited<ReturnType<typeof githubWorld>>;

export function listRequest(given: Partial<ListRequest> = {}): ListRequest {
  return { limit: 10, accepts: [() => true], known: new Map(), watch: [], memo: null, ...given };
}

/** The request of the next check, after one that returned `listing`: as the check itself builds it. */
export function nextRequest(listing: Listing, before: ListRequest, given: Partial<ListRequest> = {}): ListRequest {
  const known = new Map<string, KnownRelease>(before.known);
  for (const release of listing.releases) {
    const { revision, published_at } = release;
    known.set(release.tag, { revision: revision ?? known.get(release.tag)?.revision ?? null, published_at });
  }
  return { ...before, known, memo: listing.memo, watch: listing.releases.slice(0, 1).map(({ tag }) => tag), ...given };
}

export function tagsOf(listing: Listing): string[] {
  return listing.releases.map((release) => release.tag);
}

export async function failureOf(work: Promise<unknown>): Promise<PluginError> {
  const error = await work.then(
    () => new Error("It did not fail"),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PluginError)) throw error;
  return error;
}
