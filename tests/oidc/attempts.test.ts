import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { countedTime } from "../../src/counted-time.ts";
import { attempts } from "../../src/oidc/attempts.ts";
import { findProvider } from "../../src/oidc/queries.ts";
import { type OidcHouse, oidcHouse } from "./flow.ts";

let house: OidcHouse;
beforeEach(async () => {
  house = await oidcHouse();
  await house.configure();
});
afterEach(() => house.close());

/** Room for six sign-ins; `begin` gives the state of one, `holds` takes it up and says whether it was still there. */
async function crowd(familiar: readonly string[] = []) {
  const { db, clock, sealer } = house.app;
  const provider = await findProvider(db.read);
  if (provider === null) throw new Error("No provider");
  const make = () =>
    attempts({
      db,
      clock,
      counted: countedTime(clock, null),
      sealer,
      familiarClients: async () => new Set(familiar),
      maximum_logins: 6,
    });
  let store = make();
  const metadata = {
    issuer: "https://id.example",
    authorization_endpoint: "https://id.example/authorize",
    token_endpoint: "https://id.example/token",
    jwks_uri: "https://id.example/jwks",
    algorithms: ["RS256"] as const,
    client_authentication: "client_secret_basic" as const,
    is_iss_promised: false,
  };
  const begin = async (client: string): Promise<string> => {
    await clock.advance(1);
    const { authorization_url } = await store.begin({
      provider,
      metadata,
      redirect_uri: "https://tidemark.test/auth/oidc/home/callback",
      browser: null,
      purpose: { kind: "login", next: null, client },
    });
    return new URL(authorization_url).searchParams.get("state") ?? "";
  };
  const holds = async (state: string) => (await store.take(state)) !== null;
  return {
    begin,
    holds,
    restart: () => {
      store = make();
    },
  };
}

describe("of more sign-ins under way than there is room for", () => {
  test("those of whoever has most are forgotten, the oldest first", async () => {
    const { begin, holds } = await crowd();
    const mine = await begin("me");
    const theirs: string[] = [];
    for (let count = 0; count < 20; count++) theirs.push(await begin("stranger"));
    expect(await holds(mine)).toBe(true);
    expect(await Promise.all(theirs.map(holds))).toEqual(theirs.map((_, index) => index >= 15));
  });

  test("of many clients with one each the oldest is forgotten, of a familiar one none", async () => {
    const { begin, holds } = await crowd(["home"]);
    const mine = [await begin("home"), await begin("home")];
    const theirs: string[] = [];
    for (let count = 0; count < 20; count++) theirs.push(await begin(`stranger ${count}`));
    expect(await Promise.all(mine.map(holds))).toEqual([true, true]);
    expect(await Promise.all(theirs.map(holds))).toEqual(theirs.map((_, index) => index >= 16));
  });

  test("those that came back or ran out count no more", async () => {
    const { begin, holds } = await crowd();
    for (let count = 0; count < 6; count++) expect(await holds(await begin("me"))).toBe(true);
    for (let count = 0; count < 6; count++) await begin("me");
    await house.app.clock.advance(10 * 60_000);
    const mine = await begin("me");
    for (let count = 0; count < 5; count++) await begin(`stranger ${count}`);
    expect(await holds(mine)).toBe(true);
  });

  test("after a restart, which forgets whose they were, there are no more than that", async () => {
    const { begin, restart } = await crowd();
    for (let count = 0; count < 6; count++) await begin("me");
    restart();
    for (let count = 0; count < 3; count++) await begin("me");
    const { rows } = await house.app.db.client.execute("SELECT count(*) AS c FROM oidc_attempts");
    expect(Number(rows[0]?.c)).toBe(6);
  });

  test("after a restart the new one is kept and the oldest forgotten", async () => {
    const { begin, holds, restart } = await crowd();
    const before: string[] = [];
    for (let count = 0; count < 6; count++) before.push(await begin(`stranger ${count}`));
    restart();
    const mine = await begin("me");
    const other = await begin("other");
    expect(await holds(mine)).toBe(true);
    expect(await holds(other)).toBe(true);
    expect(await Promise.all(before.map(holds))).toEqual([false, false, true, true, true, true]);
  });
});
