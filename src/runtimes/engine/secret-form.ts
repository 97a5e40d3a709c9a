/** Recognizes secrets by their names and forms. What it does not recognize may still be secret. */

const secretName =
  /pass(?:word|wd|phrase)?|pwd|secret|token|key|credential|auth|private|salt|cookie|dsn|connection_?string/i;
/** `scheme://user:password@host` in any value. */
const secretValue = /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/i;
/** `password=…`, `token: …` and `--requirepass …` inside a longer text, unless the value is itself a variable. */
const assigned =
  /(?:pass(?:word|wd|phrase)?|secret|token|key|credential|private|salt|cookie|dsn)[\w.-]{0,64}["']?\s{0,8}[=:]\s{0,8}["']?[^\s"'$]/i;
const optioned = /(?:^|\s)--?[\w.-]{0,64}(?:pass|secret|token|key|credential)[\w.-]{0,64}\s{1,8}["']?[^\s"'$-]/i;

/** `Env.NAME`, `Labels.NAME` and `CreateCommand`: whether the path alone marks a secret. */
export function isSecretPath(path: string): boolean {
  // Podman's command line repeats every variable.
  if (path === "CreateCommand") return true;
  return (path.startsWith("Env.") || path.startsWith("Labels.")) && isSecretName(path.slice(path.indexOf(".") + 1));
}

export function isSecretName(name: string): boolean {
  return secretName.test(name);
}

/** A text that contains a password by its form, whatever its name. */
export function isSecretText(text: string): boolean {
  return secretValue.test(text);
}

/** A text that assigns a secret to a name. */
export function isAssigned(text: string): boolean {
  return assigned.test(text);
}

/** A word of a command line that is a secret by itself. */
export function isSecretWord(word: string): boolean {
  const [left = "", ...rest] = word.split("=");
  if (rest.length > 0 && /^[\w.-]+$/.test(left)) return isSecretName(left) && rest.join("=") !== "";
  return assigned.test(word) || optioned.test(word);
}

/** In `scheme://user:password@host`. */
export function passwordsIn(text: string): readonly string[] {
  return [...text.matchAll(/:\/\/[^\s/:@]*:([^\s/@]+)@/g)].map((match) => match[1] ?? "");
}

/** What variables with a secret name hold, what a command line gives to options with one, and the passwords of addresses in both. */
export function namedSecrets(
  variables: readonly (readonly [name: string, value: string])[],
  words: readonly string[],
): readonly string[] {
  const named = variables.flatMap(([name, value]) => (isSecretName(name) ? [value] : []));
  const given = words.flatMap((word, at) => {
    if (isSecretArgument(words[at - 1] ?? "", word)) return [word];
    return /^[\w.-]+=/.test(word) && isSecretWord(word) ? [word.slice(word.indexOf("=") + 1)] : [];
  });
  const addressed = [...variables.map(([, value]) => value), ...words].flatMap(passwordsIn);
  return [...named, ...given, ...addressed].filter((value) => value !== "");
}

/** Whether a word of a command line is the value of an option with a secret's name. */
export function isSecretArgument(before: string, word: string): boolean {
  return /^--?[\w.-]+$/.test(before) && isSecretName(before) && !word.startsWith("-");
}
