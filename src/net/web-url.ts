/**
 * `new URL` for an address from a person, an upstream or a redirect. Drops the trailing root dot of the host, so that `host.example.` and
 * `host.example` are one host wherever names are checked, compared or counted. Only an issuer is compared as written.
 */
export function webUrl(text: string, base?: URL | string): URL {
  const url = new URL(text, base);
  if (url.hostname.endsWith(".")) url.hostname = withoutRoot(url.hostname);
  return url;
}

/** A host's name without its trailing root dot; two dots are no name, and stay. */
export function withoutRoot(name: string): string {
  return /[^.]\.$/.test(name) ? name.slice(0, -1) : name;
}
