/**
 * `new URL` for an address that a person, an upstream or a redirect names. The dot of the root at a host's end is left out, so that
 * `host.example.` and `host.example` are one host wherever names are judged, compared or counted. An issuer alone is compared as it is
 * written.
 */
export function webUrl(text: string, base?: URL | string): URL {
  const url = new URL(text, base);
  if (url.hostname.endsWith(".")) url.hostname = withoutRoot(url.hostname);
  return url;
}

/** A host's name without the dot of the root at its end; two dots are no name, and stay. */
export function withoutRoot(name: string): string {
  return /[^.]\.$/.test(name) ? name.slice(0, -1) : name;
}
