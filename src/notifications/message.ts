import { type Language, type MessageText, messageTexts } from "./message-texts.ts";
import type { NewEvent } from "./schema.ts";

/** Longest notes in a message, 4 KiB; receivers refuse large bodies, and the link leads to the rest. */
const maxNotesBytes = 4_096;
const cutMark = "\n…";

type Body = Readonly<Record<string, unknown>>;

/** The texts under the names that common receivers look for: Slack `text`, Discord `content`, ntfy and Gotify `message`. */
function withTexts(event: string, words: MessageText, facts: Body): Body {
  const line = `${words.title}\n${words.text}`;
  return { event, title: words.title, text: words.text, content: line.slice(0, 2000), message: words.text, ...facts };
}

/** Notes that fit, or their start with a mark that there is more. */
function shortened(notes: string): string {
  const bytes = new Uint8Array(maxNotesBytes);
  const { read } = new TextEncoder().encodeInto(notes, bytes);
  if (read === notes.length) return notes;
  const room = bytes.subarray(0, maxNotesBytes - Buffer.byteLength(cutMark));
  return notes.slice(0, new TextEncoder().encodeInto(notes, room).read) + cutMark;
}

export function testBody(language: Language): Body {
  return withTexts("test", messageTexts[language].test, {});
}

/** The JSON that a notifier sends for an event; `baseUrl` (blank when unknown) makes the link to our own page. */
export function eventBody(event: NewEvent, language: Language, baseUrl: string): Body {
  const words = messageTexts[language];
  if ("run_id" in event) {
    const link = baseUrl === "" ? null : `${baseUrl}/runs/${event.run_id}`;
    return withTexts(event.kind, words.run(event.facts), { ...event.facts, url: link, link });
  }
  const { facts } = event;
  const page = baseUrl === "" ? null : `${baseUrl}/trackers/${encodeURIComponent(facts.tracker)}`;
  return withTexts(event.kind, event.kind === "new_release" ? words.new_release(facts) : words.republish(facts), {
    ...facts,
    notes: facts.notes === null ? null : shortened(facts.notes),
    url: facts.url ?? page,
    link: page,
  });
}
