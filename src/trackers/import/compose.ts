import { valuesOf } from "../../forms/fields.ts";
import { say } from "../../messages/message.ts";
import { isObject } from "../../strict-json.ts";
import { type Fields, isFalse, textOf } from "./document.ts";
import { anyOf, type Draft, type Reading, type Skipped } from "./draft.ts";
import { type ImageRules, imageDraft } from "./image.ts";
import { fillIn, type Variables } from "./variables.ts";

/** Whether a document is a compose file: services with an image or a build. */
export function isCompose(document: unknown): boolean {
  const { services } = valuesOf(document);
  return (
    isObject(services) && Object.values(services).some((service) => "image" in valuesOf(service) || isBuilt(service))
  );
}

function isBuilt(service: unknown): boolean {
  return "build" in valuesOf(service);
}

/**
 * The images of a compose file. Also reads labels of Diun, WUD and Watchtower: those that disable a service, and patterns for its tags.
 * Variables take their values from the `.env` file, else the defaults in the file.
 */
export function readCompose(document: unknown, variables: Variables): Reading {
  const drafts: Draft[] = [];
  const skipped: Skipped[] = [];
  const open = new Set<string>();
  const services = valuesOf(valuesOf(document).services);
  for (const name of Object.keys(services)) {
    const foundIn = `services.${name}`;
    const service = extended(services, name);
    const image = textOf(service.image);
    const labels = labelsOf(service.labels);
    if (image === null) {
      skipped.push({
        found_in: foundIn,
        reason: say(isBuilt(service) ? "imports.built" : "imports.no_image"),
      });
    } else if (offLabels.some((label) => isFalse(labels[label]))) {
      skipped.push({ found_in: foundIn, reason: say("imports.label_off") });
    } else {
      const { text, unset } = fillIn(image, variables);
      const found = imageDraft(text, foundIn, { rules: rulesOf(labels), unset, untagged: "latest" });
      if ("reason" in found) skipped.push(found);
      else drafts.push(found);
      if ("reason" in found || found.needs_answer === true) for (const variable of unset) open.add(variable);
    }
  }
  return { drafts, skipped, unset: [...open] };
}

/** Each of them, set to false, excludes a service from its tool. */
const offLabels = ["diun.enable", "wud.watch", "com.centurylinklabs.watchtower.enable"];
const maxExtensions = 10;

/** A service merged with the services of the same file that it `extends`. */
function extended(services: Fields, name: string, depth = 0): Fields {
  const service = valuesOf(services[name]);
  const { service: named, file } = valuesOf(service.extends);
  const base = textOf(service.extends) ?? (file === undefined ? textOf(named) : null);
  if (base === null || depth === maxExtensions) return service;
  return { ...extended(services, base, depth + 1), ...service };
}

/** Labels as a mapping or a list of `name=value`; compose files write `$` as `$$`. */
function labelsOf(labels: unknown): Fields {
  const pairs = Array.isArray(labels)
    ? labels.flatMap((label) => {
        const [, name, value] = /^([^=]{1,200})=(.{0,2000})$/s.exec(textOf(label) ?? "") ?? [];
        return name === undefined ? [] : [[name, value] as const];
      })
    : Object.entries(valuesOf(labels));
  return Object.fromEntries(pairs.map(([name, value]) => [name, textOf(value)?.replaceAll("$$", "$") ?? ""]));
}

function rulesOf(labels: Fields): ImageRules {
  const patterns = (name: string) => (textOf(labels[name]) ?? "").split(";").filter((pattern) => pattern !== "");
  return {
    include_pattern: textOf(labels["wud.tag.include"]) ?? anyOf(patterns("diun.include_tags")),
    exclude_pattern: textOf(labels["wud.tag.exclude"]) ?? anyOf(patterns("diun.exclude_tags")),
  };
}
