import { type Fields, fieldsOf, isFalse, isFields, textOf } from "./document.ts";
import { anyOf, type Draft, type Reading, type Skipped } from "./draft.ts";
import { type ImageRules, imageDraft } from "./image.ts";

/** Whether a document is a compose file: services with an image or a build. */
export function isCompose(document: unknown): boolean {
  const { services } = fieldsOf(document);
  return (
    isFields(services) && Object.values(services).some((service) => "image" in fieldsOf(service) || isBuilt(service))
  );
}

function isBuilt(service: unknown): boolean {
  return "build" in fieldsOf(service);
}

/**
 * The images of a compose file. Labels that Diun and WUD read are read too: those that switch a service off, and the patterns for
 * its tags. A variable is taken with the default that stands in the file.
 */
export function readCompose(document: unknown): Reading {
  const drafts: Draft[] = [];
  const skipped: Skipped[] = [];
  for (const [name, service] of Object.entries(fieldsOf(fieldsOf(document).services))) {
    const foundIn = `services.${name}`;
    const image = textOf(fieldsOf(service).image);
    const labels = labelsOf(fieldsOf(service).labels);
    if (image === null) {
      skipped.push({
        found_in: foundIn,
        reason: isBuilt(service) ? "It is built here, from no registry" : "It has no image",
      });
    } else if (isFalse(labels["diun.enable"]) || isFalse(labels["wud.watch"])) {
      skipped.push({ found_in: foundIn, reason: "A label takes it out of watching" });
    } else {
      const found = imageDraft(withDefaults(image), foundIn, rulesOf(labels));
      if ("reason" in found) skipped.push(found);
      else drafts.push(found);
    }
  }
  return { drafts, skipped };
}

/** Labels as a mapping or as a list of `name=value`; `$$` is how a compose file writes `$`. */
function labelsOf(labels: unknown): Fields {
  const pairs = Array.isArray(labels)
    ? labels.flatMap((label) => {
        const [, name, value] = /^([^=]{1,200})=(.{0,2000})$/s.exec(textOf(label) ?? "") ?? [];
        return name === undefined ? [] : [[name, value] as const];
      })
    : Object.entries(fieldsOf(labels));
  return Object.fromEntries(pairs.map(([name, value]) => [name, textOf(value)?.replaceAll("$$", "$") ?? ""]));
}

function rulesOf(labels: Fields): ImageRules {
  const patterns = (name: string) => (textOf(labels[name]) ?? "").split(";").filter((pattern) => pattern !== "");
  return {
    include_pattern: textOf(labels["wud.tag.include"]) ?? anyOf(patterns("diun.include_tags")),
    exclude_pattern: textOf(labels["wud.tag.exclude"]) ?? anyOf(patterns("diun.exclude_tags")),
  };
}

/** `${NAME:-default}` and `${NAME-default}` become the default; a variable without one stays, and is refused as what it is. */
function withDefaults(text: string): string {
  return text.replace(/\$\{[A-Za-z_][A-Za-z0-9_]{0,100}:?-([^${}]{0,500})\}/g, "$1").replaceAll("$$", "$");
}
