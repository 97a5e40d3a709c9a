import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { say } from "../../src/messages/message.ts";
import { clockDifferences } from "../../src/net/clock-difference.ts";
import { type Authority, authorityMissing, createAuthority } from "../peers/authority.ts";
import { english } from "../support/english.ts";
import { createFakeClock } from "../support/fake-clock.ts";

const hour = 3_600_000;
const reason = say("net.certificate_expired");
const at = (ms: number, more: Record<string, string> = {}) =>
  new Headers({ date: new Date(ms).toUTCString(), ...more });

describe("clockDifferences()", () => {
  const begin = () => {
    const clock = createFakeClock();
    return { clock, now: clock.now(), differences: clockDifferences(clock) };
  };

  test.each([
    [-3 * hour, "3 hours ahead of"],
    [3 * hour, "3 hours behind"],
    [6 * 60_000, "6 minutes behind"],
    [50 * hour, "2 days behind"],
  ])("names a difference of %d ms", (ms, words) => {
    const { now, differences } = begin();
    differences.observe("reg.example", at(now + ms));
    const said = `The certificate has expired; this machine's clock is ${words} the clock of "reg.example"; check the time of this machine`;
    expect(english(differences.explain(reason, "reg.example"))).toBe(said);
    expect(differences.all().map(({ host, ms: found }) => [host, Math.abs(found + ms) < 1_000])).toEqual([
      ["reg.example", true],
    ]);
  });

  test.each([
    ["a difference of four minutes", at(createFakeClock().now() + 4 * 60_000)],
    ["a response from a cache", at(createFakeClock().now() - 3 * hour, { age: "10800" })],
    ["a response without a time", new Headers()],
    ["a time that is none", new Headers({ date: "yesterday" })],
  ])("says nothing after %s", (_what, headers) => {
    const { differences } = begin();
    differences.observe("reg.example", headers);
    expect(differences.explain(reason, "reg.example")).toEqual(reason);
    expect(differences.all()).toEqual([]);
  });

  test("says nothing about a host that another one's clock explains, and forgets it when the clock is corrected", () => {
    const { clock, now, differences } = begin();
    differences.observe("a.example", at(now + 3 * hour));
    differences.observe("b.example", at(now + 3 * hour));
    expect(differences.explain(reason, "c.example")).toEqual(reason);
    expect(differences.all().map(({ host }) => host)).toEqual(["b.example", "a.example"]);
    clock.set(now + 3 * hour);
    expect(differences.all()).toEqual([]);
  });
});

describe.skipIf(authorityMissing() !== null)("a certificate that is refused for its time", () => {
  let authority: Authority;
  let server: ReturnType<typeof Bun.serve>;
  const seen: { method: string; headers: string[] }[] = [];
  /** What the server believes that the time is. */
  let itsTime = () => Date.now();
  beforeAll(() => {
    authority = createAuthority();
    const { cert_file, key_file } = authority.issue("localhost", "server", { is_expired: true });
    server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      tls: { cert: readFileSync(cert_file, "utf8"), key: readFileSync(key_file, "utf8") },
      fetch: (request) => {
        seen.push({ method: request.method, headers: [...request.headers.keys()].toSorted() });
        return new Response(null, { headers: { date: new Date(itsTime()).toUTCString() } });
      },
    });
  });
  afterAll(async () => {
    await server?.stop(true);
    authority?.remove();
  });

  const here = (path: string) => JSON.stringify(join(import.meta.dir, path));
  const upstream = `
      import { realHttp } from ${here("../support/real-http.ts")};
      const context = realHttp(systemClock).open();`;
  const receiver = `
      import { createGuard } from ${here("../../src/net/guarded-fetch.ts")};
      import { parseOutboundAllow } from ${here("../../src/net/outbound-allow.ts")};
      const resolve = async () => [{ address: "127.0.0.1", family: 4 }];
      const guard = createGuard({ clock: systemClock, allow: parseOutboundAllow(process.env.ALLOWED), resolve });
      const context = guard.open({ purpose: "webhook", timeout_ms: 10_000, signal: new AbortController().signal });`;

  /** The product's own request, in a process that trusts the authority: trust is read at the start. */
  const ask = async (open: string): Promise<string[]> => {
    const script = `
      import { systemClock } from ${here("../../src/clock.ts")};
      import { codesIn } from ${here("../support/meaning.ts")};
      ${open}
      const headers = { authorization: "Bearer secret" };
      const error = await context.fetch(new URL("https://localhost:${server.port}/v2/"), { headers }).catch((thrown) => thrown);
      console.log(JSON.stringify(codesIn(error.said)));
      process.exit(0);`;
    const child = Bun.spawn([process.execPath, "-e", script], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: authority.ca_file, ALLOWED: `localhost:${server.port}` },
      stdout: "pipe",
      stderr: "inherit",
    });
    return JSON.parse(await new Response(child.stdout).text());
  };

  test.each([
    ["an upstream", upstream],
    ["a receiver", receiver],
  ])("of %s is explained by the host's own clock, which is asked for without the credential", async (_what, open) => {
    seen.length = 0;
    itsTime = () => Date.now() - 30 * hour;
    const failed = ["net.request_failed", "net.certificate_expired"];
    expect(await ask(open)).toEqual(["phrases.joined", ...failed, "net.clock_differs"]);
    expect(seen.map(({ method }) => method)).toEqual(["HEAD"]);
    expect(seen[0]?.headers).not.toContain("authorization");
    itsTime = () => Date.now();
    expect(await ask(open)).toEqual(failed);
  });
});
