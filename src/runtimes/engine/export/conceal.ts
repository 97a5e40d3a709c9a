import { isAssigned, isSecretArgument, isSecretPath, isSecretText, isSecretWord, passwordsIn } from "../secret-form.ts";
import type { OwnSettings } from "./member.ts";

/** A text with parts from the restoring person's environment. */
export type Word = readonly (string | { variable: string })[];

export interface Variable {
  variable: string;
  /** Its meaning in words: `the variable DB_PASSWORD of web`. */
  meaning: string;
}

/** Where a value is: an environment variable, a label, or another named setting. */
type Place = "env" | "label" | "option";

export interface Concealer {
  /** The value of a named setting. */
  named(settings: OwnSettings, place: Place, name: string, value: string): Word;
  /** The words of a command line. */
  words(settings: OwnSettings, what: string, words: readonly string[]): readonly Word[];
  variables(): readonly Variable[];
  with_secrets: boolean;
}

/** Shorter ones would match everywhere. */
const minFoundLength = 6;
/** Names with a meaning for a shell, the CLI or the script itself. */
const taken =
  /^(?:tm_.*|PATH|IFS|HOME|ENV|CDPATH|PS[0-9]|PWD|SHELL|LANG|LC_.*|LD_.*|DOCKER_.*|CONTAINER_.*|COMPOSE_.*)$/;
const name = /^[A-Za-z_][A-Za-z0-9_]*$/;
/**
 * Removes secrets from the output unless requested. A value is secret when its name says so, when its form contains a password, or when it
 * contains another secret value.
 */
export function concealer(all: readonly OwnSettings[], withSecrets: boolean): Concealer {
  const known = knownSecrets(all);
  const variables = new Map<string, Variable & { value: string }>();

  const hide = (settings: OwnSettings, wanted: string, value: string, meaning: string): Word => {
    const base = wanted.replace(/[^A-Za-z0-9_]/g, "_");
    const own = `${settings.name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_${base}`;
    const candidates = [...(name.test(base) && !taken.test(base) ? [base] : []), name.test(own) ? own : `_${own}`];
    for (let number = 2; ; number += 1) {
      for (const candidate of candidates) {
        const found = variables.get(candidate);
        if (found !== undefined && found.value !== value) continue;
        if (found === undefined) variables.set(candidate, { variable: candidate, value, meaning });
        return [{ variable: candidate }];
      }
      candidates.splice(0, candidates.length, `${own}_${number}`);
    }
  };
  const isSecret = (path: string, value: string) =>
    value !== "" && (isSecretPath(path) || isSecretText(value) || known.some((secret) => value.includes(secret)));

  return {
    with_secrets: withSecrets,
    named(settings, place, key, value) {
      const isHidden = isSecret(place === "label" ? `Labels.${key}` : `Env.${key}`, value);
      if (withSecrets || !(isHidden || (place === "option" && isAssigned(value)))) return [value];
      const what = { env: "variable", label: "label", option: "setting" }[place];
      return hide(
        settings,
        place === "env" ? key : `${place}_${key}`.toUpperCase(),
        value,
        `${what} ${key} of ${settings.name}`,
      );
    },
    words(settings, what, words) {
      if (withSecrets) return words.map((word) => [word]);
      return words.map((word, index) => {
        const before = words[index - 1] ?? "";
        const isValue = isSecretArgument(before, word);
        if (!isValue && !isSecretWord(word) && !isSecret("", word)) return [word];
        return hide(
          settings,
          `${what}_${index + 1}`.toUpperCase(),
          word,
          `word ${index + 1} of the ${what} of ${settings.name}`,
        );
      });
    },
    variables: () => [...variables.values()].map(({ variable, meaning }) => ({ variable, meaning })),
  };
}

function knownSecrets(all: readonly OwnSettings[]): readonly string[] {
  const found = all.flatMap(({ env, labels }) => [
    ...env.filter(([key, value]) => isSecretPath(`Env.${key}`) || isSecretText(value)),
    ...labels.filter(([key, value]) => isSecretPath(`Labels.${key}`) || isSecretText(value)),
  ]);
  return found.flatMap(([, value]) => [value, ...passwordsIn(value)]).filter((value) => value.length >= minFoundLength);
}
