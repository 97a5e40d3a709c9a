/** The target of `rel="next"` in a `Link` header; some registries omit the angle brackets or `rel`. Null if there is none. */
export function nextLink(header: string | null): string | null {
  const text = (header ?? "").trim().slice(0, 16_384);
  if (text === "") return null;
  // A target may contain commas, so entries are split only before another target.
  const entries = text.startsWith("<") ? text.split(/,\s*(?=<)/) : [text];
  for (const entry of entries) {
    const match = /^<([^>]*)>(.*)$/.exec(entry.trim()) ?? /^([^<;\s]+)(.*)$/.exec(entry.trim());
    const rel = /;\s*rel\s*=\s*"?([^";,]*)"?/i
      .exec(match?.[2] ?? "")?.[1]
      ?.trim()
      .toLowerCase();
    if (match !== null && (rel === undefined || rel.split(/\s+/).includes("next"))) return match[1] ?? null;
  }
  return null;
}
