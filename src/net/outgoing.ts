/** A `RequestInit` for one exchange. */
export interface Outgoing {
  method: string;
  headers: Headers;
  body: Uint8Array | null;
}

/** Reads method, headers and body. Every request identifies itself, and requests compression only if the caller does. */
export async function readOutgoing(init: RequestInit): Promise<Outgoing> {
  const headers = new Headers(init.headers);
  const method = (init.method ?? "GET").toUpperCase();
  if (!headers.has("user-agent")) headers.set("user-agent", "Tidemark");
  if (!headers.has("accept")) headers.set("accept", "*/*");
  if (init.body === null || init.body === undefined) return { method, headers, body: null };
  if (typeof init.body === "string") {
    if (!headers.has("content-type")) headers.set("content-type", "text/plain;charset=UTF-8");
    return { method, headers, body: new TextEncoder().encode(init.body) };
  }
  const whole = new Response(init.body);
  const type = whole.headers.get("content-type");
  if (type !== null && !headers.has("content-type")) headers.set("content-type", type);
  return { method, headers, body: new Uint8Array(await whole.arrayBuffer()) };
}
