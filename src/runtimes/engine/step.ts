import { saidBy } from "../../errors.ts";
import { toldAs } from "../../messages/message.ts";
import type { Journal } from "../journal.ts";
import type { EngineStep } from "./steps.ts";

type Facts = Readonly<Record<string, unknown>>;

/**
 * One journalled step: its beginning is durable before `work` changes anything, and its end or failure is written afterwards. An
 * error of the journal itself (another process has taken over the run) is thrown unchanged, and nothing more is changed.
 */
export async function step(
  journal: Journal,
  name: EngineStep,
  facts: Facts,
  work: () => Promise<Facts>,
): Promise<void> {
  await journal.begin(name, facts);
  let result: Facts;
  try {
    result = await work();
  } catch (error) {
    await journal.fail(name, toldAs("error", saidBy(error)));
    throw error;
  }
  await journal.finish(name, result);
}
