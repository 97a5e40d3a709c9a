import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { StackVariable } from "../../src/compose-file/read-compose-file.ts";
import expected from "../fixtures/stacks/expected.json" with { type: "json" };

const folder = join(import.meta.dir, "../fixtures/stacks");

/** What becomes of one service: another line of the file, other variables, or a refusal. */
export interface StackService {
  service: string;
  image: string | null;
  to: string;
  line?: number;
  reads?: string;
  sets?: Readonly<Record<string, string>>;
  code?: string;
  places?: readonly string[];
}

export interface Stack {
  name: string;
  bytes: Buffer;
  text: string;
  env: readonly StackVariable[];
  services: readonly StackService[];
}

export const stacks: readonly Stack[] = expected.map(({ name, env, services }) => {
  const bytes = readFileSync(join(folder, `${name}.yaml`));
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  const variables = Object.entries(env).map(([variable, value]) => ({ name: variable, value: String(value) }));
  return { name, bytes, text, env: variables, services: services as readonly StackService[] };
});
