import { classify, type ParsedTag } from "./classify.ts";
import { findCore } from "./tag-core.ts";
import { movingWords, neutralWords } from "./tag-words.ts";

const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
/** Words of tags that move from version to version and name no variant. */
const movingNames: ReadonlySet<string> = new Set([
  ...movingWords,
  ...neutralWords,
  ..."latest lts current mainline rolling newest".split(" "),
]);

/**
 * What an image's tag may be called for a version, in the form of the tag that runs: its prefix (`v1.2.3` or `1.2.3`, `alpine-v18.2.0`)
 * and its variant, with the version's own number, pre-release and build. The likeliest first; none where the version has no number or
 * the tag that runs tells no form. A name that moves (`latest`, `stable-alpine`) tells its variant alone, so that both spellings of a
 * number are possible.
 */
export function tagsInForm(running: string, version: string): readonly string[] {
  const released = classify(version);
  const body = bodyOf(version, released);
  if (body === null) return [];
  // A tag has no `+`: most write a dash for it, some an underscore.
  const bodies = body.includes("+") ? [body.replaceAll("+", "-"), body.replaceAll("+", "_")] : [body];
  const forms = formsOf(running, /v$/i.test(released.prefix));
  const tags = forms.flatMap(({ prefix, suffix }) => bodies.map((text) => `${prefix}${text}${suffix}`));
  const isNamed = classify(running).shape !== null;
  return tags.filter((tag) => tagPattern.test(tag) && (!isNamed || keeps(classify(tag), running, released)));
}

/** What an image may be tagged for a release that is none itself, in the form of the tag that runs: by its application's version, if it has one. */
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

/** A version without its prefix and its variant; null when it has no number. */
function bodyOf(version: string, parsed: ParsedTag): string | null {
  const core = findCore(version);
  if (parsed.shape === null || core === null) return null;
  const written = version.slice(core.start, core.end);
  const number = parsed.shape === "date" ? written : written.replaceAll("_", ".");
  const suffix = version.slice(core.end);
  const variant = variantIn(suffix, parsed);
  return variant === null ? null : `${number}${suffix.replace(variant, "")}`;
}

/** The variant of a tag as its suffix writes it, with what joins it; "" without one, null where it cannot be told. */
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

/** Whether a tag has the name and variant of the one that runs and says the version. */
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
