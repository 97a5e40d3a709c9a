/** What is said, as data: which sentence of the catalogue, and the values in it. A value may be a message itself. */
export interface Message {
  /** `area.sentence`, stable for programs. */
  readonly code: string;
  readonly params: MessageParams;
}

export interface MessageParams {
  readonly [name: string]: MessageValue;
}

export type MessageValue = string | number | boolean | null | Message | readonly MessageValue[];

/** Renders a message that stands inside another one, in the language of the outer one. */
export type Tell = (message: Message) => string;

type Sentence = string | ((params: never, tell: Tell) => string);

/** The sentences of one area in one language; a sentence with values is a function of them. */
export type Area = Readonly<Record<string, Sentence>>;

/** The same sentences in another language: a missing, surplus or mistyped one fails the type check. */
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
