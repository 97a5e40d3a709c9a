import type { Log } from "../log.ts";
import type { OnKeyFileStep } from "../secrets/keys.ts";

/** Logs each step of a rotation at debug level before it begins and after it is done, so that the log shows where a process died. */
export function rotationSteps(log: Log) {
  const tell = (step: string, phase: string) => log.debug("Rotation of the encryption key", { step, phase });
  return {
    run: async <T>(step: string, work: () => Promise<T> | T): Promise<T> => {
      tell(step, "before");
      const result = await work();
      tell(step, "after");
      return result;
    },
    onFile:
      (step: string): OnKeyFileStep =>
      (phase) =>
        tell(step, phase),
    onColumn: (table: string, column: string) => tell(`reencrypt ${table}.${column}`, "after"),
  };
}

export type RotationSteps = ReturnType<typeof rotationSteps>;
