/** Recognises secrets by the names and forms that they are written in. What looks like none may still be one. */

const secretName =
  /pass(?:word|wd|phrase)?|pwd|secret|token|key|credential|auth|private|salt|cookie|dsn|connection_?string/i;
/** `scheme://user:password@host` in any value. */
const secretValue = /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/i;
/** `password=…`, `token: …` and `--requirepass …` inside of a longer text, unless the value is a variable itself. */
const assigned =
  /(?:pass(?:word|wd|phrase)?|secret|token|key|credential|private|salt|cookie|dsn)[\w.-]{0,64}["']?\s{0,8}[=:]\s{0,8}["']?[^\s"'$]/i;
const optioned = /(?:^|\s)--?[\w.-]{0,64}(?:pass|secret|token|key|credential)[\w.-]{0,64}\s{1,8}["']?[^\s"'$-]/i;

/** `Env.NAME`, `Labels.NAME` and `CreateCommand`: whether the place alone says that a secret stands there. */
export function isSecretPath(path: string): boolean {
  // Podman's command line repeats every variable that it was given.
  if (path === "CreateCommand") return true;
  return (path.startsWith("Env.") || path.startsWith("Labels.")) && isSecretName(path.slice(path.indexOf(".") + 1));
}

export function isSecretName(name: string): boolean {
  return secretName.test(name);
}

/** A text that carries a password by its form, whatever it is called. */
export function isSecretText(text: string): boolean {
  return secretValue.test(text);
}

/** A text somewhere in which a secret is given to a name. */
export function isAssigned(text: string): boolean {
  return assigned.test(text);
}

/** A word of a command line that holds a secret by itself. */
export function isSecretWord(word: string): boolean {
  const [left = "", ...rest] = word.split("=");
  if (rest.length > 0 && /^[\w.-]+$/.test(left)) return isSecretName(left) && rest.join("=") !== "";
  return assigned.test(word) || optioned.test(word);
}

/** Whether a word of a command line is the value of an option that is called like a secret. */
export function isSecretArgument(before: string, word: string): boolean {
  return /^--?[\w.-]+$/.test(before) && isSecretName(before) && !word.startsWith("-");
}
