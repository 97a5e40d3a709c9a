import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { LogPart, LogReading } from "../logs.ts";
import { framedLogLines, logLinesOf, plainLogLines } from "./log-stream.ts";
import { type ContainerInspect, isRunning, nameOf } from "./objects.ts";
import { objectAt, stringAt, stringsAt } from "./raw.ts";
import { namedSecrets } from "./secret-form.ts";

/**
 * The log of a target's container. `flow` yields the bytes that the engine returns for `logQuery`; `statusOf` returns the status of a
 * refusal that it throws.
 */
export function containerLogPart(
  { container, service }: { container: ContainerInspect; service: string },
  flow: (reading: LogReading) => AsyncIterable<Uint8Array>,
  statusOf: (error: unknown) => number | null,
): LogPart {
  const { Id: id, State: state, HostConfig: hostConfig, Config: config } = container;
  const driver = stringAt(objectAt(hostConfig.LogConfig).Type);
  const unreadable = say("logs.driver_unreadable", { driver });
  return {
    key: nameOf(container),
    service,
    pod: "",
    container: nameOf(container),
    // Between two starts, what it wrote can be read.
    state: state.Restarting !== true && isRunning(container) ? "running" : "stopped",
    start: `${id} ${state.StartedAt ?? ""}`,
    unreadable: driver === "none" ? unreadable : null,
    secrets: secretsOf(container),
    read: async function* (reading) {
      try {
        // With a terminal, the engine does not tell the outputs apart.
        yield* logLinesOf(flow(reading), config.Tty === true ? plainLogLines() : framedLogLines());
      } catch (error) {
        // The response for a driver that only sends logs elsewhere.
        if (statusOf(error) !== 501) throw error;
        throw new PluginError("rejected", unreadable, { cause: error });
      }
    },
  };
}

/** Both outputs, with the time before each line. */
export function logQuery({ tail, since, follow }: LogReading): Readonly<Record<string, string>> {
  return {
    ...{ stdout: "true", stderr: "true", timestamps: "true", follow: String(follow) },
    ...{ tail: String(tail), since: String(since ?? 0) },
  };
}

/** Values of a container's configuration that nobody may see. */
export function secretsOf({ Config: config }: ContainerInspect): readonly string[] {
  const { Env: variables, Cmd: command, Entrypoint: entrypoint } = objectAt(config);
  const named = stringsAt(variables).map((each): [string, string] => {
    const at = each.indexOf("=");
    return at === -1 ? [each, ""] : [each.slice(0, at), each.slice(at + 1)];
  });
  const words = [entrypoint, command].flatMap((each) =>
    typeof each === "string" ? [stringAt(each)] : stringsAt(each),
  );
  return namedSecrets(named, words);
}
