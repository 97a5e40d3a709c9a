// Sends one guarded request to the URL in its argument, with the name on loopback, and prints what came of it as JSON.
import { systemClock } from "../../src/clock.ts";
import { PluginError } from "../../src/errors.ts";
import { createGuard } from "../../src/net/guarded-fetch.ts";
import { parseOutboundAllow } from "../../src/net/outbound-allow.ts";

const url = new URL(process.argv[2] ?? "");
const guard = createGuard({
  clock: systemClock,
  allow: parseOutboundAllow(url.host),
  resolve: async () => [{ address: "127.0.0.1", family: 4 }],
});
const context = guard.open({ purpose: "webhook", timeout_ms: 10_000, signal: new AbortController().signal });
try {
  console.log(JSON.stringify({ status: (await context.fetch(url)).status }));
} catch (error) {
  if (!(error instanceof PluginError)) throw error;
  console.log(JSON.stringify({ code: error.code, message: error.message }));
}
