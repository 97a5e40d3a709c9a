import { type Language, type MessageText, messageTexts } from "./message-texts.ts";
import type { NewEvent } from "./schema.ts";

/** Longest notes in a message; receivers refuse large bodies, and the link leads to the rest. */
const maxNotesLength = 4000;

type Body = Readonly<Record<string, unknown>>;

/** The texts under the names that common receivers look for: Slack `text`, Discord `content`, ntfy and Gotify `message`. */
function withTexts(event: string, words: MessageText, facts: Body): Body {
  const line = `${words.title}\n${words.text}`;
  return { event, title: words.title, text: words.text, content: line.slice(0, 2000), message: words.text, ...facts };
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
    notes: facts.notes === null ? null : facts.notes.slice(0, maxNotesLength),
    url: facts.url ?? page,
    link: page,
  });
}
