import type { Reader } from "../db/client.ts";
import { invalidInput, noSuch } from "../errors.ts";
import { type Message, say } from "../messages/message.ts";
import type { TargetKind } from "../runtimes/target-kind.ts";
import { channelsOfSource, findBindable, trackerExists } from "./queries.ts";
import { type Binding, fitsArtifact, watchesImage } from "./settings.ts";
import type { ExecutorInput } from "./settings-schema.ts";

/** The services that may be bound. */
export interface KnownServices {
  target: string;
  /** Null if the target could not be inspected: then any name is accepted. */
  found: readonly string[] | null;
  /** Bound already: a service that is missing for the moment must not block other changes. */
  bound: readonly string[];
}

/** Refuses duplicate services and unknown services, trackers, sources or channels; each at its field. */
export async function resolveBindings(
  read: Reader,
  input: ExecutorInput["bindings"],
  services: KnownServices | null,
): Promise<Binding[]> {
  const errors: Record<string, Message> = {};
  const found: Binding[] = [];
  for (const [position, binding] of input.entries()) {
    const at = (field: string) => `bindings.${position}.${field}`;
    if (found.some((each) => each.service === binding.service)) {
      errors[at("service")] = say("executors.bound_twice", { service: binding.service });
    }
    const unknown = services === null ? null : unknownService(services, binding.service);
    if (unknown !== null) errors[at("service")] = unknown;
    const source = await findBindable(read, binding.tracker, binding.source);
    if (source === null) {
      if (await trackerExists(read, binding.tracker)) {
        errors[at("source")] = say("executors.no_such_source", { tracker: binding.tracker, source: binding.source });
      } else errors[at("tracker")] = noSuch("tracker", binding.tracker);
      continue;
    }
    const channels = await channelsOfSource(read, source.source_id);
    if (!channels.includes(binding.channel)) {
      errors[at("channel")] = say("executors.no_such_channel", { source: binding.source, channels });
    }
    found.push({ ...source, service: binding.service, channel: binding.channel });
  }
  if (Object.keys(errors).length > 0) throw invalidInput(errors);
  return found;
}

function unknownService({ target, found, bound }: KnownServices, name: string): Message | null {
  if (found === null || found.includes(name) || bound.includes(name)) return null;
  return say("executors.no_such_service", { target, service: name, services: found });
}

/** Throws 422 on the image policy if it takes the image of a source that has none. */
export function refuseImageless(
  { image_selection }: Pick<ExecutorInput, "image_selection">,
  bindings: readonly Binding[],
) {
  const blind = image_selection === "use_tracker" ? bindings.find((binding) => !watchesImage(binding)) : undefined;
  if (blind === undefined) return;
  const { tracker, source } = blind;
  throw invalidInput({ image_selection: say("executors.imageless_source", { tracker, source }) });
}

/** Throws 422 on the first source that releases nothing that the target could run. */
export function refuseUnfitting(artifact: TargetKind["artifact"], bindings: readonly Binding[]): void {
  const position = bindings.findIndex((binding) => !fitsArtifact(binding, artifact));
  const unfitting = bindings[position];
  if (unfitting === undefined) return;
  const { tracker, source } = unfitting;
  throw invalidInput({ [`bindings.${position}.source`]: say("executors.no_chart", { tracker, source }) });
}
