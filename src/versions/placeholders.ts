import { SaidError } from "../errors.ts";
import { type Message, say } from "../messages/message.ts";
import { classify } from "./classify.ts";

/** Values of the templates' placeholders. */
export interface PlaceholderValues {
  tag: string;
  version: string;
}

const placeholders = ["tag", "version", "major", "minor", "patch"] as const;
type Placeholder = (typeof placeholders)[number];

export const maxTemplateCharacters = 200;

/** An invalid template, or one that cannot be filled in for a version. */
export class TemplateError extends SaidError {}

/** A version without its tag's prefix: `1.2.3` of `v1.2.3` and `release/1.2.3`. */
export function plainVersionOf(version: string): string {
  const parsed = classify(version);
  return parsed.shape === null ? version : version.slice(parsed.prefix.length);
}

function isKnown(name: string): name is Placeholder {
  return placeholders.some((known) => known === name);
}

function unknownPlaceholder(placeholder: string, known: readonly Placeholder[]): TemplateError {
  return new TemplateError(
    say("changelogs.unknown_placeholder", { placeholder, known: known.map((name) => `{${name}}`) }),
  );
}

function checkPlaceholders(template: string, known: readonly Placeholder[]): void {
  for (const [whole, name = ""] of template.matchAll(/\{([^{}]*)\}/g)) {
    if (isKnown(name) && known.includes(name)) continue;
    throw unknownPlaceholder(whole, known);
  }
}

/** Why a path is invalid within a repository, or null. */
function refusalOfPath(path: string): Message | null {
  if (/\p{Cc}/u.test(path)) return say("fields.control_characters");
  if (path.startsWith("/") || /^[a-z]:/i.test(path)) return say("changelogs.path_from_root");
  if (path.includes("\\")) return say("changelogs.path_backslash");
  const parts = path.split("/");
  if (parts.includes("..") || parts.includes(".")) return say("changelogs.path_dots");
  return parts.includes("") ? say("changelogs.path_empty_part") : null;
}

/** Refuses a path template with unknown placeholders or one that leads out of the repository. Throws TemplateError. */
export function checkPathTemplate(template: string): void {
  checkPlaceholders(template, placeholders);
  if (/[{}]/.test(template.replaceAll(/\{[^{}]*\}/g, ""))) {
    throw new TemplateError(say("changelogs.path_open_brace"));
  }
  const refusal = refusalOfPath(template);
  if (refusal !== null) throw new TemplateError(refusal);
}

/** The path of a version's changelog. Throws TemplateError when the values give no path within the repository. */
export function fillPath(template: string, values: PlaceholderValues): string {
  const { numbers } = classify(values.version);
  const known: Readonly<Record<Placeholder, string | undefined>> = {
    tag: values.tag,
    version: plainVersionOf(values.version),
    major: numbers[0],
    minor: numbers[1],
    patch: numbers[2],
  };
  const path = template.replaceAll(/\{([^{}]*)\}/g, (whole, name: string) => {
    const value = isKnown(name) ? known[name] : undefined;
    if (value === undefined) {
      throw new TemplateError(say("changelogs.version_lacks", { version: values.version, placeholder: whole }));
    }
    return value;
  });
  if (refusalOfPath(path) !== null) {
    throw new TemplateError(say("changelogs.tag_gives_no_path", { tag: values.tag, path: path.slice(0, 200) }));
  }
  return path;
}

const marks = "\\^$.|?*+()[]{}";

/** A text as a pattern that matches only it. */
function escaped(text: string): string {
  return [...text].map((character) => (marks.includes(character) ? `\\${character}` : character)).join("");
}

/**
 * A heading template as a pattern for one version. The values are literal, and so are brackets right around a placeholder: changelogs write
 * `[{version}]`, which as a character set would match any version. A `loose` pattern makes these brackets optional, accepts them where the
 * template has none, and accepts a `v` before a bare number.
 */
export function headingPattern(template: string, { tag, version }: PlaceholderValues, form: "exact" | "loose"): string {
  const values = { "{tag}": tag, "{version}": version };
  return template.trim().replaceAll(/(\\?\[)?([vV]?)(\{tag\}|\{version\})(\\?\])?/g, (_, open, prefix, name, close) => {
    const value = name === "{tag}" ? values["{tag}"] : values["{version}"];
    if (form === "loose") {
      const mark = prefix === "" && /^\d/.test(value) ? "[vV]?" : prefix;
      return `(?:\\[?${mark}${escaped(value)}\\]?)`;
    }
    return `${open === undefined ? "" : "\\["}${prefix}${escaped(value)}${close === undefined ? "" : "\\]"}`;
  });
}

/** Refuses a heading template without a version or with another placeholder. `parsePattern` checks its pattern. */
export function checkHeadingTemplate(template: string): void {
  const known: readonly Placeholder[] = ["tag", "version"];
  for (const [whole, name = ""] of template.matchAll(/\{([a-z_]+)\}/g)) {
    if (!known.some((placeholder) => placeholder === name)) {
      throw unknownPlaceholder(whole, known);
    }
  }
  if (!template.includes("{tag}") && !template.includes("{version}")) {
    throw new TemplateError(say("changelogs.heading_without_version"));
  }
}
