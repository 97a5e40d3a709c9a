import * as v from "valibot";
import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import { parseBoundedJson } from "../../net/bounded-json.ts";
import type { ImageChange } from "../plan.ts";
import { containersIn, type Found } from "./workloads.ts";

const Saved = v.object({ format: v.literal(1), images: v.record(v.string(), v.string()) });

/** The images of a workload's containers, which is all that a run changes. */
export function writeSaved({ template }: Found): string {
  const images = Object.fromEntries(containersIn(template).map(({ name, image }) => [name, image]));
  return JSON.stringify({ format: 1, images });
}

/** The changes that set the saved images again. Throws `malformed`. */
export function changesTo(text: string, found: Found): readonly ImageChange[] {
  const { images } = readSaved(text, Saved);
  return containersIn(found.template).flatMap(({ name, image }) => {
    const saved = images[name];
    if (saved === undefined || saved === image) return [];
    const digest = saved.includes("@") ? saved : null;
    return [{ kind: "image" as const, service: name, reference: saved, digest, image_config: null }];
  });
}

/** Throws `malformed` for what is not of this form. */
export function readSaved<S extends v.GenericSchema>(text: string, schema: S): v.InferOutput<S> {
  try {
    return v.parse(schema, parseBoundedJson(text));
  } catch (cause) {
    throw new PluginError("malformed", say("kubernetes.saved_unreadable"), { cause });
  }
}
