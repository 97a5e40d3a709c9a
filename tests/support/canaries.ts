/** A secret in every dress in which a program may print or keep it. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const inBase64 = [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64url");
    // All but its ends, which depend on what stands beside it.
    const inner = text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
    return [inner, inner.replaceAll("-", "+").replaceAll("_", "/")];
  });
  const backwards = [...secret].reverse().join("");
  const escaped = JSON.stringify(secret).slice(1, -1);
  return [secret, encodeURIComponent(secret), escaped, bytes.toString("hex"), backwards, ...inBase64];
}

/** What must not be found again, by name. */
export function canaries() {
  const forms = new Map<string, readonly string[]>();
  return {
    remember: (name: string, secret: string): string => {
      if (secret.length < 12) throw new Error(`"${name}" is too short to be searched for`);
      forms.set(name, formsOf(secret));
      return secret;
    },
    /** The names of those that `text` has in any form. */
    hits: (text: string, except: readonly string[] = []): string[] =>
      [...forms].flatMap(([name, all]) =>
        !except.includes(name) && all.some((form) => text.includes(form)) ? [name] : [],
      ),
    count: () => forms.size,
  };
}
