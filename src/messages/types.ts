/** A message as data: its key in the catalogue, and its values, which may be messages. */
export interface Message {
  /** `area.key`, stable for programs. */
  readonly code: string;
  readonly params: MessageParams;
}

export interface MessageParams {
  readonly [name: string]: MessageValue;
}

export type MessageValue = string | number | boolean | null | Message | readonly MessageValue[];

/** Renders a nested message in the language of the outer one. */
export type Tell = (message: Message) => string;

type Sentence = string | ((params: never, tell: Tell) => string);

/** The messages of one area in one language; one with values is a function of them. */
export type Area = Readonly<Record<string, Sentence>>;

/** The same messages in another language: a missing, surplus or mistyped one fails the type check. */
export type Rendering<A extends Area> = { readonly [K in keyof A]: A[K] extends string ? string : A[K] };

export function isMessage(value: unknown): value is Message {
  return (
    typeof value === "object" &&
    value !== null &&
    "code" in value &&
    typeof value.code === "string" &&
    "params" in value &&
    typeof value.params === "object" &&
    value.params !== null
  );
}
