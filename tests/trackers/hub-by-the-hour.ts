import type { Clock } from "../../src/clock.ts";
import { PluginError } from "../../src/errors.ts";
import { plain } from "../../src/messages/message.ts";
import { createRateLedger, type RateLedger } from "../../src/net/rate-ledger.ts";
import type { OpenContext } from "../../src/trackers/upstreams/source-session.ts";
import { trackerHouse } from "./tracker-house.ts";

const hourMs = 3_600_000;

/**
 * GitHub in memory, without a token: so many requests of its API in an hour, told in every answer's headers, and git's list of tags for
 * nothing. The way to it keeps the real rate ledger, as the real one does.
 */
function hubByTheHour(limit: number) {
  const checks = new Map<string, number[]>();
  let window = { ends_at: 0, used: 0 };
  let refused = 0;
  let most = 0;
  let ledger: RateLedger | null = null;

  const answer = (url: URL, now: number): Response => {
    const [, name = ""] = /([a-z]+\/[a-z0-9-]+?)(?:\.git\/|\/releases)/.exec(url.pathname.replace("/repos/", "")) ?? [];
    if (url.host === "github.com") {
      const oid = "a".repeat(40);
      const line = `${oid} refs/tags/v1.0.0\n`;
      return new Response(`${(line.length + 4).toString(16).padStart(4, "0")}${line}0000`, {
        headers: { "content-type": "application/x-git-upload-pack-result" },
      });
    }
    if (now >= window.ends_at) window = { ends_at: now + hourMs, used: 0 };
    const isAllowed = window.used < limit;
    window.used += 1;
    most = Math.max(most, window.used);
    const headers = {
      "content-type": "application/json",
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-remaining": String(Math.max(limit - window.used, 0)),
      "x-ratelimit-reset": String(Math.ceil(window.ends_at / 1000)),
    };
    if (!isAllowed) {
      refused += 1;
      return new Response(JSON.stringify({ message: "API rate limit exceeded" }), { status: 403, headers });
    }
    checks.set(name, [...(checks.get(name) ?? []), now]);
    const release = {
      id: 1,
      tag_name: "v1.0.0",
      name: "v1.0.0",
      draft: false,
      prerelease: false,
      created_at: "2025-01-01T00:00:00Z",
      published_at: "2025-01-01T00:00:00Z",
      html_url: `https://github.com/${name}/releases/tag/v1.0.0`,
      body: "",
      target_commitish: "main",
    };
    return new Response(JSON.stringify([release]), { headers });
  };

  const open = (clock: Clock): OpenContext => {
    const own = createRateLedger({
      clock,
      store: { load: async () => [], save: async () => undefined },
      onStoreError: (error) => {
        throw error;
      },
    });
    ledger = own;
    return ({ signal, credential_id }) => {
      let requests = 0;
      return {
        signal,
        clock,
        fetch: async (url) => {
          const until = own.blockedUntil(url.host, credential_id);
          if (until !== null) {
            throw new PluginError("rate_limited", plain("Not yet"), { retry_after_ms: until - clock.now() });
          }
          requests += 1;
          const response = answer(url, clock.now());
          const text = await response.clone().text();
          const { status, headers } = response;
          const wait = own.observe(url.host, credential_id, { status, headers, text });
          if (wait !== null) throw new PluginError("rate_limited", plain("Refused"), { retry_after_ms: wait });
          return Object.defineProperty(response, "url", { value: url.href });
        },
        stats: () => ({ requests, bytes: 0 }),
      };
    };
  };

  return {
    open,
    rates: () => ledger?.view() ?? [],
    /** By repository: when each was checked. */
    checks,
    /** Requests beyond the limit. */
    refused: () => refused,
    /** The most of one hour. */
    most: () => most,
  };
}

const minuteMs = 60_000;

/**
 * Plays so many hours of trackers that are to be checked hourly, without a token, minute by minute. Gives what the hub saw, and until
 * when the first tracker was told to wait.
 */
export async function playHours({ trackers, limit, hours }: { trackers: number; limit: number; hours: number }) {
  const hub = hubByTheHour(limit);
  const house = await trackerHouse({ openContext: hub.open, rates: hub.rates });
  try {
    const channels = [{ type: "stable", include_pattern: "", exclude_pattern: "" }];
    for (let n = 0; n < trackers; n += 1) {
      const config = { repository: `acme/app-${n}`, fetch_mode: "rest" };
      await house.create(`app-${n}`, { check_interval_minutes: 60 }, [
        { key: "git", kind: "github", config, channels },
      ]);
    }
    const told = new Set<number>();
    for (let minute = 0; minute < hours * 60; minute += 1) {
      await house.tick();
      const { waits_until = null } = (await house.trackers.get("app-0")).sources[0] ?? {};
      if (waits_until !== null) told.add(waits_until);
      await house.clock.advance(minuteMs);
    }
    const views = [];
    for (let n = 0; n < trackers; n += 1) views.push(await house.trackers.get(`app-${n}`));
    const times = [...hub.checks.values()].map((each) => each.length);
    return {
      refused: hub.refused(),
      most_in_an_hour: hub.most(),
      checks: times.reduce((sum, count) => sum + count, 0),
      checked: times.length,
      fewest: Math.min(...times),
      most: Math.max(...times),
      failing: views.filter(({ state }) => state !== "ok").length,
      told: told.size,
      upstream: (await house.trackers.upstreams()).items[0],
    };
  } finally {
    await house.close();
  }
}
