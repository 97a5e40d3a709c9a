import { PluginError } from "../../src/errors.ts";
import { isMessage, type Message } from "../../src/messages/types.ts";

/** The codes of every message within one, the outermost first: what is said, apart from the words. */
export function codesIn({ code, params }: Message): string[] {
  const within = (value: unknown): string[] =>
    Array.isArray(value) ? value.flatMap(within) : isMessage(value) ? codesIn(value) : [];
  return [code, ...Object.values(params).flatMap(within)];
}

/** The code of the failure, and what it says last: what the refusal may mean. */
export async function meaningOf(work: Promise<unknown> | undefined): Promise<[code: string, meaning: string]> {
  const error: unknown = await Promise.resolve(work).catch((thrown: unknown) => thrown);
  if (!(error instanceof PluginError)) throw new Error("It did not fail", { cause: error });
  return [error.code, codesIn(error.said).at(-1) ?? ""];
}
