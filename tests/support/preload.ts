import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

// Loaded before every test file: unit tests reach nothing but this machine's loopback, whatever they forget to fake.
process.umask(0o077);
for (const name of [
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "http_proxy",
  "https_proxy",
  "all_proxy",
  "NO_PROXY",
  "no_proxy",
]) {
  delete process.env[name];
}
const realFetch = globalThis.fetch;
const guarded = (input: Parameters<typeof fetch>[0], init?: RequestInit) => {
  const url = new URL(input instanceof Request ? input.url : String(input));
  const isLoopback = url.hostname === "localhost" || url.hostname === "[::1]" || url.hostname.startsWith("127.");
  if (!isLoopback) throw new Error(`A test sent a request to ${url.host}: inject a fake instead`);
  return realFetch(input, init);
};
globalThis.fetch = Object.assign(guarded, { preconnect: realFetch.preconnect });

// What a test leaves among the temporary files goes with its process; `bun run test` has made the folder already.
if (!basename(tmpdir()).startsWith("tm-")) {
  const folder = mkdtempSync(join(tmpdir(), "tm-"));
  // Users that own a peer's container need to pass through it.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  process.on("exit", () => {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // What a peer has still mounted there stays.
    }
  });
}
