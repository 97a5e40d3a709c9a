import * as v from "valibot";
import { Instant } from "../forms/inputs.ts";
import { issue } from "../messages/message.ts";
import { MessageSchema } from "../messages/schema.ts";

/** Of each container. */
export const defaultLines = 200;
export const maxLines = 500;
/** Containers of a target that are read; the others are only counted. */
export const maxParts = 20;
/** Percent-encoded at its worst, nine bytes a character, it still fits into the 16 KiB that a request's head may have. */
const maxQueryChars = 1_500;

const wholeNumber = v.pipe(
  v.string(),
  v.regex(/^\d{1,4}$/, issue("fields.whole_number")),
  v.transform(Number),
  v.minValue(1),
  v.maxValue(maxLines),
);

/** Which lines of a target's logs. */
export const LogQuery = v.object({
  lines: v.optional(
    v.pipe(
      wholeNumber,
      v.description(
        `The last lines of each container, 1 to ${maxLines}; ${defaultLines} if omitted. Fewer if the target has many containers`,
      ),
    ),
  ),
  containers: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(maxQueryChars),
      v.description(
        "Only these containers, by `name`, separated by commas; names that do not exist are left out. All if omitted",
      ),
    ),
  ),
});

/** `running`: its log is read; `waiting`: it is not read yet, or cannot be, and `why` says why; `stopped`: it does not run. */
const logStates = ["running", "waiting", "stopped"] as const;

const partEntries = {
  /** The container's name; in a cluster the pod's and the container's. */
  name: v.pipe(v.string(), v.description("The container's name; in a cluster `pod/container`")),
  service: v.string(),
  /** Blank for a runtime without pods. */
  pod: v.string(),
  container: v.string(),
  state: v.picklist(logStates),
  why: v.nullable(v.string()),
  why_data: v.nullable(MessageSchema),
};
export const LogPartView = v.object(partEntries);
export type LogPartView = v.InferOutput<typeof LogPartView>;

export const LogLineView = v.object({
  at: v.pipe(v.nullable(v.string()), v.description("As the runtime reports it, with nanoseconds where it has them")),
  text: v.pipe(v.string(), v.description("Secrets are masked, and a long line is cut")),
});
export type LogLineView = v.InferOutput<typeof LogLineView>;

/** The last lines of a target's containers. Nothing of it is stored. */
export const LogView = v.object({
  executor: v.object({ id: v.string(), name: v.string() }),
  containers: v.array(v.object({ ...partEntries, lines: v.array(LogLineView) })),
  /** Containers beyond those that can be read at once. */
  more_containers: v.number(),
  read_at: Instant,
});
export type LogView = v.InferOutput<typeof LogView>;

/** The events of a live view. */
export type LogNews =
  /** The containers and their states, at the beginning and after each change; `all`: every one that can be chosen, by name. */
  | { kind: "parts"; parts: readonly LogPartView[]; more: number; all: readonly string[] }
  /**
   * `skipped`: lines before these that were left out, null if unknown; `has_restarted`: the container was started again before
   * them.
   */
  | { kind: "lines"; part: LogPartView; lines: readonly LogLineView[]; skipped: number | null; has_restarted: boolean }
  /** Nothing more follows. */
  | { kind: "end"; why: v.InferOutput<typeof MessageSchema> };
