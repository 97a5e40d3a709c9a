import type { Clock } from "../clock.ts";
import { saidBy } from "../errors.ts";
import { type Message, toldAs } from "../messages/message.ts";
import { RecentMap } from "../recent-map.ts";
import type { TrackerService } from "../trackers/service.ts";
import { compareVersions } from "../versions/order.ts";
import type { NewestView } from "./schema.ts";

/** What upstream has for one proposed tracker. */
export type Newest =
  | { state: "pending" }
  | { state: "known"; tag: string | null /** Newest first; the newest of long lists. */; tags: readonly string[] }
  | { state: "failed"; message: Message };

export interface NewestQuestion {
  key: string;
  /** Questions to one host take turns. */
  host: string;
  /** The input of a tracker's preview. */
  input: unknown;
}

/** Over all hosts: a look takes one request or a few, and nobody waits for it. */
const looksAtOnce = 4;
const looksPerHost = 2;
const knownForMs = 10 * 60_000;
const failedForMs = 60_000;
const maxKept = 2_000;

interface Kept {
  newest: Newest;
  /** By the clock that does not jump; null while it is asked. */
  expires_at: number | null;
}

interface NewestOptions {
  clock: Clock;
  preview: TrackerService["preview"];
  /** Runs work that belongs to no request. */
  outside: (work: () => void) => void;
}

/**
 * The newest versions of proposals, asked in the background through the trackers' previews, which keep to the rate limits:
 * 1. a question that is new, or whose answer has expired, queues up;
 * 2. at most four are asked at once, two of one host;
 * 3. the answer is kept for ten minutes, a failure for one.
 */
export function newestLooks({ clock, preview, outside }: NewestOptions) {
  const kept = new RecentMap<string, Kept>(maxKept);
  const queue: NewestQuestion[] = [];
  const busy = new Map<string, number>();

  const ask = async ({ key, input }: NewestQuestion): Promise<void> => {
    try {
      const { channels, tags } = await preview(input);
      const accepted = tags.filter(({ verdicts }) => verdicts[0]?.accepted === true).map(({ tag }) => tag);
      const newest: Newest = { state: "known", tag: channels[0]?.latest ?? null, tags: accepted };
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

/** How many versions are newer than the running one; null if that cannot be told. */
export function countBehind(newest: Newest, running: string | null): number | null {
  if (newest.state !== "known" || newest.tag === null || running === null) return null;
  if (newest.tag === running) return 0;
  const place = newest.tags.indexOf(running);
  if (place !== -1) return place;
  return compareVersions(running, newest.tag) === 0 ? 0 : null;
}

export function newestView(newest: Newest): NewestView {
  const message = newest.state === "failed" ? newest.message : null;
  return { state: newest.state, tag: newest.state === "known" ? newest.tag : null, ...toldAs("message", message) };
}
