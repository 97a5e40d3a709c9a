import { type Catalogue, english } from "./catalogue.ts";
import { fitted, marked } from "./nested.ts";
import { type Area, isMessage, type Message, type MessageParams, type MessageValue, type Tell } from "./types.ts";

export type { Message } from "./types.ts";
export { isMessage } from "./types.ts";

export type MessageCode = {
  [A in keyof Catalogue & string]: `${A}.${keyof Catalogue[A] & string}`;
}[keyof Catalogue & string];

type SentenceOf<C> = C extends `${infer A}.${infer K}`
  ? A extends keyof Catalogue
    ? K extends keyof Catalogue[A]
      ? Catalogue[A][K]
      : never
    : never
  : never;

export type ParamsOf<C extends MessageCode> =
  SentenceOf<C> extends (params: infer P, ...rest: never[]) => string ? P : Record<never, never>;

/** `say("net.redirect", { status: 301 })`; the values are those of the catalogue's message. */
export function say<C extends MessageCode>(
  code: C,
  ...params: SentenceOf<C> extends string ? [] : [ParamsOf<C>]
): Message {
  const [values = {}] = params;
  return { code, params: values as MessageParams };
}

/** Quoted text of others. */
export function plain(text: string): Message {
  return say("text.plain", { text });
}

/** Whether it is this message; then its values are typed. */
export function says<C extends MessageCode>(said: Message, code: C): said is Message & { params: ParamsOf<C> } {
  return said.code === code;
}

/**
 * Renders messages in one language, which may have capital letters. An unknown message, of a later version, or one with unfitting values is
 * rendered as its code: a row never keeps a page from being shown.
 */
export function teller(catalogue: Readonly<Record<string, Area>>, hasCapitals: boolean): Tell {
  const nested: Tell = (said) => (hasCapitals ? marked(tell(said), said) : tell(said));
  const tell: Tell = ({ code, params }) => {
    const [area = "", key = ""] = code.split(".", 2);
    const sentences = Object.hasOwn(catalogue, area) ? catalogue[area] : undefined;
    const sentence = sentences !== undefined && Object.hasOwn(sentences, key) ? sentences[key] : undefined;
    if (typeof sentence === "string") return sentence;
    try {
      return sentence === undefined ? code : fitted(sentence(params as never, nested));
    } catch {
      return code;
    }
  };
  return tell;
}

/** In English: for the API, the log, webhooks and programs. */
export const inEnglish = teller(english, true);

/** A message in a response of the API: in English, and as data. */
export function told(said: Message): { message: string; message_data: Message } {
  return { message: inEnglish(said), message_data: said };
}

export type ToldAs<N extends string, M extends Message | null> = {
  readonly [K in N | `${N}_data`]: K extends N ? (M extends null ? null : string) : M;
};

/** The same as a field of its own name, also for JSON in a row: `toldAs("reason", …)` is `{ reason, reason_data }`. */
export function toldAs<N extends string, M extends Message | null>(name: N, said: M): ToldAs<N, M> {
  return { [name]: said === null ? null : inEnglish(said), [`${name}_data`]: said } as ToldAs<N, M>;
}

/** The message written by `toldAs`; text without data is quoted, or was stored by an earlier version. */
export function saidAt(facts: Readonly<Record<string, unknown>>, name: string): Message | null {
  const { [name]: text, [`${name}_data`]: data } = facts;
  if (isMessage(data)) return data;
  return typeof text === "string" ? plain(text) : null;
}

/** Without a prototype: a body may name a field `__proto__`. */
export function tellAll(said: Readonly<Record<string, Message>>): Readonly<Record<string, string>> {
  const told: Record<string, string> = Object.create(null);
  for (const [key, value] of Object.entries(said)) told[key] = inEnglish(value);
  return told;
}

/** Each with its message in English, and as data beside it. */
export function toldEach<T extends { message: Message }>(
  notices: readonly T[],
): (Omit<T, "message"> & { message: string; message_data: Message })[] {
  return notices.map(({ message, ...rest }) => ({ ...rest, ...told(message) }));
}

/** The same message with each of its texts passed through `change`, at any depth: this removes secrets. */
export function withTexts(said: Message, change: (text: string) => string): Message {
  const changed = (value: MessageValue): MessageValue => {
    if (typeof value === "string") return change(value);
    if (typeof value !== "object" || value === null) return value;
    return isMessage(value) ? withTexts(value, change) : (value as readonly MessageValue[]).map(changed);
  };
  const params: MessageParams = Object.fromEntries(
    Object.entries(said.params).map(([key, value]) => [key, changed(value)]),
  );
  return { code: said.code, params };
}

/** As JSON for a row or a validator, which only hold text. */
export function toText(said: Message): string {
  return said.code === "text.plain"
    ? String(said.params.text)
    : JSON.stringify({ code: said.code, params: said.params });
}

/** `say` for a schema, whose messages are texts: `v.regex(pattern, issue("fields.control_characters"))`. */
export function issue<C extends MessageCode>(
  code: C,
  ...params: SentenceOf<C> extends string ? [] : [ParamsOf<C>]
): string {
  return toText(say(code, ...params));
}

/** The message written by `toText`; any other text is quoted, or was stored by an earlier version. */
export function fromText(text: string): Message {
  if (text.startsWith('{"code":"')) {
    try {
      const value: unknown = JSON.parse(text);
      if (isMessage(value)) return value;
    } catch {
      // Text that only looks like a message.
    }
  }
  return plain(text);
}
