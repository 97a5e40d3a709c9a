import { systemActor } from "../../src/auth/schema.ts";
import type { LogNews, LogPartView, LogView } from "../../src/logs/schema.ts";
import type { LogService } from "../../src/logs/service.ts";
import { eventually } from "./eventually.ts";

export interface LogWatch {
  /** Each line with its container. */
  lines: string[];
  parts: readonly LogPartView[];
  notes: string[];
  marks: string;
  end: string | null;
  /** `name state` of each container, once they are so. */
  untilStates(states: readonly string[]): Promise<void>;
  /** Resolves once this line was received. */
  until(line: string): Promise<void>;
  close(): Promise<void>;
}

/** What `read` returns, by container: its state and its lines. */
export function seenIn(view: LogView): Record<string, { state: string; why: string | null; lines: string[] }> {
  return Object.fromEntries(
    view.containers.map(({ name, state, why_data, lines }) => [
      name,
      { state, why: why_data?.code ?? null, lines: lines.map(({ text }) => text) },
    ]),
  );
}

/** Follows the logs of an executor's target and keeps everything that is told. */
export async function watchLogs(
  logs: LogService,
  executor: string,
  asked: { query?: Readonly<Record<string, string>>; after?: string; session?: string } = {},
): Promise<LogWatch> {
  const { query = {}, after = "", session = "session" } = asked;
  const stopping = new AbortController();
  const { follow } = await logs.open(systemActor, session, executor, { query, after });
  const watch: LogWatch = {
    ...{ lines: [], parts: [], notes: [], marks: after, end: null },
    untilStates: async (states) => {
      await eventually(`the states ${states.join(", ")}`, () => {
        const now = watch.parts.map(({ name, state }) => `${name} ${state}`);
        return JSON.stringify(now) === JSON.stringify(states);
      });
    },
    until: async (line) => {
      await eventually(`the line ${line}`, () => watch.lines.includes(line));
    },
    close: async () => {
      stopping.abort();
      await followed;
    },
  };
  const take = (news: LogNews) => {
    if (news.kind === "parts") watch.parts = news.parts;
    else if (news.kind === "end") watch.end = news.why.code;
    else {
      if (news.skipped !== 0) watch.notes.push(`${news.part.name} skipped ${news.skipped}`);
      if (news.has_restarted) watch.notes.push(`${news.part.name} restarted`);
      for (const { text } of news.lines) watch.lines.push(`${news.part.name}: ${text}`);
    }
  };
  const followed = (async () => {
    for await (const { news, marks } of follow(stopping.signal)) {
      take(news);
      watch.marks = marks;
    }
  })();
  return watch;
}
