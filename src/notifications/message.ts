import * as v from "valibot";
import { parseInstant, toIso } from "../clock.ts";
import type { Language } from "../messages/languages.ts";
import type { ApprovalSubject } from "../secrets/approval-tokens.ts";
import { type MessageText, messageTexts } from "./message-texts.ts";
import type { OutageFacts } from "./outage-schema.ts";
import type { NewEvent } from "./schema.ts";

/** Longest notes in a message, 4 KiB: receivers refuse large bodies, and the link leads to the rest. */
const maxNotesBytes = 4_096;
const cutMark = "\n…";
/** Discord's limit. */
const maxContentCharacters = 2_000;

type Body = Readonly<Record<string, unknown>>;

/** The text under the names of common receivers: Slack `text`, Discord `content`, ntfy and Gotify `message`. */
function withTexts(event: string, words: MessageText, facts: Body): Body {
  const line = `${words.title}\n${words.text}`;
  return {
    event,
    title: words.title,
    text: words.text,
    content: line.slice(0, maxContentCharacters),
    message: words.text,
    ...facts,
  };
}

/** Notes that fit, or their beginning with a mark that there is more. */
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

/** The page where it can be fixed, or at least watched. */
function outagePage(facts: OutageFacts): string {
  switch (facts.cause) {
    case "connection":
      return `/connections/${facts.connection_id}`;
    case "upstream":
      return "/upstreams";
    case "credential":
      return `/credentials/${facts.credential_id}/edit`;
  }
}

/** The JSON of an event's webhook; `baseUrl` (blank when unknown) makes the link to our page. */
export function eventBody(event: NewEvent, language: Language, baseUrl: string): Body {
  const words = messageTexts[language];
  if ("run_id" in event) {
    const link = baseUrl === "" ? null : `${baseUrl}/runs/${event.run_id}`;
    return withTexts(event.kind, words.run(event.facts), { ...event.facts, url: link, link });
  }
  if (event.kind === "executor_run_awaiting_approval") {
    const { facts } = event;
    const link = baseUrl === "" ? null : `${baseUrl}/runs/${facts.run}`;
    const told = { ...facts, approval_until: toIso(facts.approval_until) };
    return withTexts(event.kind, words.awaiting(facts), { ...told, url: link, link });
  }
  if (event.kind === "executor_target_recovered") {
    const { facts } = event;
    const link = baseUrl === "" ? null : `${baseUrl}/runs/${facts.run}`;
    const told = { ...facts, down_since: toIso(facts.down_since) };
    return withTexts(event.kind, words.recovered(facts), { ...told, url: link, link });
  }
  const { facts } = event;
  if ("cause" in facts) {
    const link = baseUrl === "" ? null : `${baseUrl}${outagePage(facts)}`;
    return withTexts(event.kind, words.outage(facts), { ...facts, since: toIso(facts.since), url: link, link });
  }
  const page = baseUrl === "" ? null : `${baseUrl}/trackers/${encodeURIComponent(facts.tracker)}`;
  return withTexts(event.kind, event.kind === "new_release" ? words.new_release(facts) : words.republish(facts), {
    ...facts,
    notes: facts.notes === null ? null : shortened(facts.notes),
    url: facts.url ?? page,
    link: page,
  });
}

const AwaitingBody = v.looseObject({
  run: v.string(),
  plan_hash: v.string(),
  approval_until: v.pipe(v.string(), v.transform(parseInstant), v.number()),
  text: v.string(),
  content: v.string(),
  message: v.string(),
});

/**
 * A stored body as it is sent. A run that awaits approval gets its one-time link, which is stored nowhere; the text contains it for
 * receivers that show only text. Without our own address, `link` returns null and the body stays as it is.
 */
export function bodyToSend(
  delivery: { event: string; body: Body },
  language: Language,
  link: (subject: ApprovalSubject) => string | null,
): Body {
  if (delivery.event !== "executor_run_awaiting_approval") return delivery.body;
  const body = v.parse(AwaitingBody, delivery.body);
  const url = link({ run: body.run, plan_hash: body.plan_hash, approval_until: body.approval_until });
  if (url === null) return delivery.body;
  const line = `\n${messageTexts[language].decide(url)}`;
  return {
    ...delivery.body,
    text: body.text + line,
    content: body.content.slice(0, maxContentCharacters - line.length) + line,
    message: body.message + line,
    url,
  };
}
