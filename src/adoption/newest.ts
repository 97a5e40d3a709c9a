import type { Clock } from "../clock.ts";
import { saidBy } from "../errors.ts";
import { type Message, toldAs } from "../messages/message.ts";
import { RecentMap } from "../recent-map.ts";
import type { TrackerService } from "../trackers/service.ts";
import { type Behind, distanceBehind, type KnownHistory } from "../versions/behind.ts";
import { compareVersions } from "../versions/order.ts";
import type { NewestView } from "./schema.ts";

/** What upstream has for one proposed tracker. */
export type Newest =
  | { state: "pending" }
  | { state: "known"; tag: string | null; history: KnownHistory }
  | { state: "failed"; message: Message };

export interface NewestQuestion {
  key: string;
  /** Questions to one host take turns. */
  host: string;
  /** The input of a tracker's preview. */
  input: unknown;
}

/** Over all hosts: a lookup takes a few requests, and nothing waits for it. */
const looksAtOnce = 4;
const looksPerHost = 2;
const knownForMs = 10 * 60_000;
const failedForMs = 60_000;
const maxKept = 2_000;

interface Kept {
  newest: Newest;
  /** By the clock that does not jump; null during the request. */
  expires_at: number | null;
}

interface NewestOptions {
  clock: Clock;
  preview: TrackerService["preview"];
  /** Runs work that belongs to no request. */
  outside: (work: () => void) => void;
}

/**
 * The newest versions of proposals, looked up in the background through the trackers' previews, which respect the rate limits:
 * 1. a lookup that is new, or whose result has expired, is queued;
 * 2. at most four run at once, two of one host;
 * 3. a result is kept for ten minutes, a failure for one.
 */
export function newestLooks({ clock, preview, outside }: NewestOptions) {
  const kept = new RecentMap<string, Kept>(maxKept);
  const queue: NewestQuestion[] = [];
  const busy = new Map<string, number>();

  const ask = async ({ key, input }: NewestQuestion): Promise<void> => {
    try {
      const { channels, tags } = await preview(input);
      const accepted = tags.filter(({ verdicts }) => verdicts[0]?.accepted === true);
      const versions = accepted.map(({ tag, published_at, maturity }) => ({
        ...{ tag, digest: null, published_at, first_observed_at: 0 },
        is_prerelease: maturity !== "release",
      }));
      const history = { versions, depth: Infinity, keep: Infinity };
      const newest: Newest = { state: "known", tag: channels[0]?.latest ?? null, history };
      kept.set(key, { newest, expires_at: clock.elapsed() + knownForMs });
    } catch (error) {
      kept.set(key, {
        newest: { state: "failed", message: saidBy(error) },
        expires_at: clock.elapsed() + failedForMs,
      });
    }
  };
  const begin = (): void => {
    const running = [...busy.values()].reduce((sum, count) => sum + count, 0);
    if (running >= looksAtOnce) return;
    const place = queue.findIndex(({ host }) => (busy.get(host) ?? 0) < looksPerHost);
    const [question] = place === -1 ? [] : queue.splice(place, 1);
    if (question === undefined) return;
    const { host } = question;
    busy.set(host, (busy.get(host) ?? 0) + 1);
    void ask(question).finally(() => {
      busy.set(host, (busy.get(host) ?? 1) - 1);
      begin();
    });
    begin();
  };

  return {
    /** Queues what is not known; returns at once. */
    request: (questions: readonly NewestQuestion[]): void => {
      const now = clock.elapsed();
      for (const question of questions) {
        const known = kept.get(question.key);
        if (known !== undefined && (known.expires_at === null || known.expires_at > now)) continue;
        kept.set(question.key, { newest: { state: "pending" }, expires_at: null });
        queue.push(question);
      }
      outside(begin);
    },
    find: (key: string): Newest => kept.get(key)?.newest ?? { state: "pending" },
  };
}

const distances = new WeakMap<KnownHistory, Map<string, Behind | null>>();

/** Whether a service runs the newest version, and how far it is behind; neither while that is unknown. */
export function standingOf(
  newest: Newest,
  running: { tag: string | null; digest: string | null },
): { is_newest: boolean; behind: Behind | null } {
  if (newest.state !== "known" || newest.tag === null || running.tag === null)
    return { is_newest: false, behind: null };
  const { tag, history } = newest;
  const digest = history.versions.find((known) => known.tag === tag)?.digest ?? null;
  const is_newest =
    tag === running.tag || (digest !== null && digest === running.digest) || compareVersions(running.tag, tag) === 0;
  if (is_newest) return { is_newest, behind: null };
  // Many services run the same version, and a page that is still filling in polls every two seconds.
  const known = distances.get(history) ?? new Map<string, Behind | null>();
  distances.set(history, known);
  const key = `${running.tag} ${running.digest}`;
  const behind = known.has(key)
    ? (known.get(key) ?? null)
    : distanceBehind({ tag: running.tag, digest: running.digest }, { tag, digest }, history);
  known.set(key, behind);
  return { is_newest, behind };
}

export function newestView(newest: Newest): NewestView {
  const message = newest.state === "failed" ? newest.message : null;
  return { state: newest.state, tag: newest.state === "known" ? newest.tag : null, ...toldAs("message", message) };
}
