import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type OidcHouse, oidcHouse } from "./flow.ts";

let house: OidcHouse;
beforeEach(async () => {
  house = await oidcHouse({ TRUSTED_PROXIES: "0.0.0.0/0,::/0" });
});
afterEach(() => house.close());

/** Asked by as many clients as `count`, each with an address of its own. */
async function ask(path: string, count: number): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (let index = 0; index < count; index++) {
    const headers = { "x-forwarded-for": `2001:db8:${index.toString(16)}::1` };
    statuses.add((await house.app.send(path, { headers })).status);
  }
  return statuses;
}

const failures = async () =>
  (await house.app.services.audit_entries.list({ limit: 100, outcome: "failed" })).items.map(({ detail }) => detail);
const warnings = () =>
  house.app.lines.filter((line) => line.includes("Sign-in with the identity provider failed")).length;

describe("sign-ins that many clients begin or end in vain", () => {
  test.each([
    ["without a provider", "/auth/oidc/none/start", 403, "no_provider", async () => undefined],
    ["without a binding", "/auth/oidc/home/start", 403, "not_bound", () => house.configure()],
    ["with a state of nobody", "/auth/oidc/home/callback?state=x&code=y", 303, "state_unknown", () => house.bind()],
  ])("%s leave thirty entries at once, then one a minute", async (_, path, status, reason, prepare) => {
    await prepare();
    expect(await ask(path, 60)).toEqual(new Set([status]));
    expect((await failures()).map((detail) => detail.reason)).toEqual(Array.from({ length: 30 }, () => reason));
    expect(warnings()).toBe(30);
    await house.app.clock.advance(60_000);
    await ask(path, 10);
    const after = await failures();
    expect(after.length).toBe(31);
    expect(after[0]).toMatchObject({ reason, left_out: 30 });
    expect(warnings()).toBe(31);
  });

  test("hide no token that the provider issued for somebody else", async () => {
    await house.bind();
    await ask("/auth/oidc/home/callback?state=x&code=y", 40);
    const browser = house.app.browser();
    const query = house.idp.consent(await house.start(browser), { sub: "person-2" });
    expect((await house.back(browser, query)).status).toBe(403);
    expect((await failures())[0]).toMatchObject({ reason: "subject_not_bound" });
  });

  test("hide nothing from the administrator who begins a binding in vain", async () => {
    const id = await house.configure();
    await ask("/auth/oidc/home/start", 40);
    await house.idp.close();
    expect((await house.authorize(house.person, id)).status).toBe(424);
    expect(await house.lastAudit()).toMatchObject({ event: "oidc_binding_started", reason: "provider_unreachable" });
  });
});
