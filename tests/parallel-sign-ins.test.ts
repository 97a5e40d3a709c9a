import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ApiClient, firstSignIn, type RunningServer, startServer, testPassword } from "./support/server.ts";

// The real process with the real cost of a password, behind a proxy that it trusts.

/** Far longer than any of it takes on a machine that does other things beside. */
const limitMs = 120_000;

let server: RunningServer;
let session: ApiClient;
beforeAll(async () => {
  server = await startServer({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
  session = await firstSignIn(server);
});
afterAll(() => server.kill("SIGTERM"));

async function signIn(address: string, password: string): Promise<{ status: number; retryAfter: number }> {
  const answer = await fetch(`${server.url}/api/session`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": address },
    body: JSON.stringify({ username: "admin", password }),
  });
  await answer.text();
  return { status: answer.status, retryAfter: Number(answer.headers.get("retry-after") ?? "0") };
}

// First, while no failure is counted yet: then each is computed.
test(
  "50 passwords that are computed at once do not stall pages",
  async () => {
    let isOver = false;
    const computing = Promise.all(
      Array.from({ length: 50 }, (_, index) => signIn(`198.18.0.${index}`, `wrong-password-${index}`)),
    ).then((answers) => {
      isOver = true;
      return answers;
    });
    let answered = 0;
    while (!isOver) {
      const [page, account] = await Promise.all([fetch(`${server.url}/login`), session.get("/account")]);
      await page.text();
      expect([page.status, account.status]).toEqual([200, 200]);
      if (!isOver) answered += 1;
    }
    const computed = (await computing).filter(({ status }) => status === 401).length;
    // Four at once and 32 that wait; whoever comes beyond is told to come again.
    expect(computed).toBeGreaterThanOrEqual(36);
    // Had one waited for the computations, it would have been answered after the last of them.
    expect(answered).toBeGreaterThanOrEqual(3);
  },
  limitMs,
);

test(
  "100 wrong passwords from one address at once do not keep the right one from another out",
  async () => {
    const wrong = Array.from({ length: 100 }, (_, index) => signIn("203.0.113.1", `wrong-password-${index}`));
    expect((await signIn("198.51.100.20", testPassword)).status).toBe(201);
    const statuses = (await Promise.all(wrong)).map(({ status }) => status);
    // Five guesses in hand; the rest waits its turn, and says how long.
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(5);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(95);
    const refused = await signIn("203.0.113.1", testPassword);
    expect(refused.status).toBe(429);
    expect(refused.retryAfter).toBeGreaterThan(0);
    expect((await signIn("198.51.100.21", testPassword)).status).toBe(201);
  },
  limitMs,
);

test(
  "100 wrong passwords from 100 addresses at once do so no longer than they are computed",
  async () => {
    const wrong = Array.from({ length: 100 }, (_, index) => signIn(`192.0.2.${index}`, `wrong-password-${index}`));
    let right = await signIn("198.51.100.30", testPassword);
    // All places are taken for a moment: it is told when to ask again, and asks whenever one of the others was answered.
    for (const each of wrong) {
      if (right.status !== 429) break;
      expect(right.retryAfter).toBeGreaterThan(0);
      await each;
      right = await signIn("198.51.100.30", testPassword);
    }
    expect(right.status).toBe(201);
    const statuses = new Set((await Promise.all(wrong)).map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 401 && status !== 429)).toEqual([]);
  },
  limitMs,
);
