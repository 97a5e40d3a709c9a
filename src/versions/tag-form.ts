import { classify, type ParsedTag } from "./classify.ts";
import { findCore } from "./tag-core.ts";
import { movingWords, neutralWords } from "./tag-words.ts";

const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
/** Words of moving tags that name no variant. */
const movingNames: ReadonlySet<string> = new Set([
  ...movingWords,
  ...neutralWords,
  ..."latest lts current mainline rolling newest".split(" "),
]);

/**
 * Possible image tags for a version, in the form of the running tag: its prefix (`v1.2.3` or `1.2.3`, `alpine-v18.2.0`) and variant, with
 * the version's own number, pre-release and build. The likeliest first; none when the version has no number or the running tag shows no
 * form. A moving name (`latest`, `stable-alpine`) only shows its variant, so both spellings of a number are possible.
 */
export function tagsInForm(running: string, version: string): readonly string[] {
  const released = classify(version);
  const body = bodyOf(version, released);
  if (body === null) return [];
  // A tag has no `+`: most use a dash for it, some an underscore.
  const bodies = body.includes("+") ? [body.replaceAll("+", "-"), body.replaceAll("+", "_")] : [body];
  const forms = formsOf(running, /v$/i.test(released.prefix));
  const tags = forms.flatMap(({ prefix, suffix }) => bodies.map((text) => `${prefix}${text}${suffix}`));
  const isNamed = classify(running).shape !== null;
  return tags.filter((tag) => tagPattern.test(tag) && (!isNamed || keeps(classify(tag), running, released)));
}

/** Possible image tags for a release of another kind, in the form of the running tag: by its application's version, if it has one. */
export function tagsOfRelease(
  running: string,
  release: { tag: string; app_version?: string | null },
): readonly string[] {
  return tagsInForm(running, release.app_version ?? release.tag);
}

interface Form {
  prefix: string;
  suffix: string;
}

/** A version without its prefix and variant; null when it has no number. */
function bodyOf(version: string, parsed: ParsedTag): string | null {
  const core = findCore(version);
  if (parsed.shape === null || core === null) return null;
  const written = version.slice(core.start, core.end);
  const number = parsed.shape === "date" ? written : written.replaceAll("_", ".");
  const suffix = version.slice(core.end);
  const variant = variantIn(suffix, parsed);
  return variant === null ? null : `${number}${suffix.replace(variant, "")}`;
}

/** A tag's variant as written in its suffix, with its separator; "" without one, null when unclear. */
function variantIn(suffix: string, { variant }: ParsedTag): string | null {
  if (variant === "") return "";
  const start = suffix.toLowerCase().replaceAll("_", "-").indexOf(`-${variant}`);
  return start === -1 ? null : suffix.slice(start, start + variant.length + 1);
}

function formsOf(running: string, isAfterV: boolean): readonly Form[] {
  const parsed = classify(running);
  const core = findCore(running);
  if (parsed.shape !== null && core !== null) {
    const suffix = variantIn(running.slice(core.end), parsed);
    return suffix === null ? [] : [{ prefix: parsed.prefix, suffix }];
  }
  const words = running.split(/[-_]/).filter((word) => !movingNames.has(word.toLowerCase()));
  if (parsed.scheme === "other" || words.some((word) => !/^[a-z]/i.test(word))) return [];
  const suffix = words.map((word) => `-${word}`).join("");
  return (isAfterV ? ["v", ""] : ["", "v"]).map((prefix) => ({ prefix, suffix }));
}

/** Whether a tag has the running tag's name and variant, and the version. */
function keeps(tag: ParsedTag, running: string, released: ParsedTag): boolean {
  const { name, variant } = classify(running);
  const isVersion = tag.numbers.join(".") === released.numbers.join(".");
  return (
    isVersion &&
    tag.name === name &&
    tag.variant === variant &&
    tag.prerelease.join(".") === released.prerelease.join(".")
  );
}
