import { saidBy } from "../../errors.ts";
import { toldAs } from "../../messages/message.ts";
import type { Journal } from "../runtime.ts";
import type { EngineStep } from "./steps.ts";

type Facts = Readonly<Record<string, unknown>>;

/**
 * One journalled step: its beginning is durable before `work` touches anything, and its end or failure is written after. An
 * error of the journal itself (the run belongs to another process now) is thrown as it is, and nothing more is touched.
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
