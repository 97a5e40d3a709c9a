/**
 * The parts of a credential that must never appear in a log. A user name is none: hiding the word "docker" wherever it
 * stands would hide what the log is for. Of a pair `username:password` the password counts by itself too.
 */
export function secretTexts(secret: Readonly<Record<string, unknown>>): readonly string[] {
  const texts: string[] = [];
  for (const [member, value] of Object.entries(secret)) {
    if (typeof value !== "string" || member === "username") continue;
    texts.push(value);
    if (member === "basic_auth") texts.push(value.slice(value.indexOf(":") + 1));
  }
  return texts;
}
