import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { goodPassword } from "../support/test-app.ts";
import { baseUrl, type OidcHouse, oidcHouse } from "./flow.ts";

let house: OidcHouse;
beforeEach(async () => {
  house = await oidcHouse();
});
afterEach(() => house.close());

const bindingPath = "/oidc-providers/admin-binding";
const password = { current_password: goodPassword };

/** Another browser in which the administrator signed in with the password. */
async function secondBrowser() {
  const browser = house.app.browser();
  await browser.post("/login", { username: "admin", password: goodPassword });
  return browser;
}

async function expectRefused(answer: { status: number }, reason: string) {
  expect(answer.status).toBe(403);
  expect(await house.lastAudit()).toMatchObject({ event: "oidc_bound", outcome: "failed", reason });
  expect((await house.app.services.oidc.binding()).is_bound).toBe(false);
}

describe("binding", () => {
  test("keeps the issuer and the subject, and says so", async () => {
    const id = await house.configure();
    expect((await house.person.api("GET", bindingPath)).body as unknown).toEqual({
      is_bound: false,
      provider: null,
      issuer: null,
      subject: null,
      bound_at: null,
    });
    const started = await house.authorize(house.person, id);
    expect(started.status).toBe(200);
    expect(Object.keys(started.body)).toEqual(["authorization_url"]);
    const answer = await house.back(house.person, house.idp.consent(started.body.authorization_url, { sub: "Ämne 1" }));
    expect(answer.location).toBe("/account");
    expect((await house.person.api("GET", bindingPath)).body as unknown).toEqual({
      is_bound: true,
      provider: { id, slug: "home", display_name: "Home", is_enabled: true },
      issuer: house.idp.issuer,
      subject: "Ämne 1",
      bound_at: "2026-01-05T12:00:00.000Z",
    });
    expect(await house.lastAudit()).toMatchObject({ event: "oidc_bound", outcome: "ok", subject: "Ämne 1" });
    expect(await house.app.services.oidc.loginProvider()).toEqual({
      slug: "home",
      display_name: "Home",
      icon_url: null,
    });
  });

  test("asks for the current password, under the throttle", async () => {
    const id = await house.configure();
    const wrong = await house.authorize(house.person, id, "not the password");
    expect(wrong.status).toBe(422);
    expect(house.idp.asked("/.well-known/openid-configuration")).toBe(0);
    expect(await house.lastAudit()).toEqual({
      event: "oidc_binding_started",
      outcome: "failed",
      reason: "wrong_password",
    });
    for (let count = 0; count < 5; count += 1) await house.authorize(house.person, id, "not the password");
    expect((await house.authorize(house.person, id)).status).toBe(429);
  });

  test.each([[{}], [{ current_password: "" }], [{ current_password: 1 }], [{ ...password, more: 1 }], [[]], [null]])(
    "refuses the body %j",
    async (body) => {
      const id = await house.configure();
      expect((await house.person.api("POST", `/oidc-providers/${id}/admin-binding/authorize`, body)).status).toBe(422);
    },
  );

  test("takes no API token", async () => {
    const id = await house.configure();
    const made = await house.person.api("POST", "/api-tokens", { name: "robot", ...password });
    const headers = { authorization: `Bearer ${made.body.token}`, "content-type": "application/json" };
    for (const path of [`/api/oidc-providers/${id}/admin-binding/authorize`, `/api${bindingPath}/unbind`]) {
      const answer = await house.app.send(path, { method: "POST", headers, body: JSON.stringify(password) });
      expect(answer.status).toBe(403);
    }
  });

  test("of nothing, of a disabled provider and without a base URL is refused", async () => {
    const path = (id: string) => `/oidc-providers/${id}/admin-binding/authorize`;
    expect((await house.person.api("POST", path("none"), password)).status).toBe(404);
    const id = await house.configure({ is_enabled: false });
    const disabled = await house.person.api("POST", path(id), password);
    expect([disabled.status, disabled.body.error]).toMatchObject([409, { code: "provider_disabled" }]);
  });

  test("of a second identity is refused before and after the way there", async () => {
    const id = await house.configure();
    const first = await house.authorize(house.person, id);
    const second = await house.authorize(house.person, id);
    await house.back(house.person, house.idp.consent(first.body.authorization_url));
    const late = await house.back(house.person, house.idp.consent(second.body.authorization_url, { sub: "person-2" }));
    expect(late.status).toBe(403);
    expect(await house.lastAudit()).toMatchObject({ event: "oidc_bound", outcome: "failed", reason: "already_bound" });
    expect((await house.app.services.oidc.binding()).subject).toBe("person-1");
    const third = await house.person.api("POST", `/oidc-providers/${id}/admin-binding/authorize`, password);
    expect([third.status, third.body.error]).toMatchObject([409, { code: "bound" }]);
  });
});

describe("a binding is not begun, and says why, when", () => {
  const meanwhile = async (change: (id: string) => Promise<unknown>) => {
    const id = await house.configure();
    const { asked, goOn } = house.heldDiscovery();
    const started = house.authorize(house.person, id);
    await asked;
    await change(id);
    goOn();
    return await started;
  };
  const attempts = async () => (await house.app.db.client.execute("SELECT count(*) FROM oidc_attempts")).rows[0]?.[0];

  test.each<[string, (id: string) => Promise<unknown>, number, string, string]>([
    [
      "the provider was deleted",
      (id) => house.person.api("DELETE", `/oidc-providers/${id}`),
      ...([404, "not_found", "no_provider"] as const),
    ],
    [
      "the provider was changed",
      (id) => house.person.api("PATCH", `/oidc-providers/${id}`, { client_id: "other" }),
      ...([409, "conflict", "provider_changed"] as const),
    ],
    [
      "the provider was disabled",
      (id) => house.person.api("PATCH", `/oidc-providers/${id}`, { is_enabled: false }),
      ...([409, "conflict", "provider_changed"] as const),
    ],
    [
      "the session was ended",
      () => house.app.db.client.execute("UPDATE sessions SET revoked_at = 1"),
      ...([401, "unauthorized", "other_session"] as const),
    ],
    [
      "every session was removed",
      () => house.app.db.client.execute("DELETE FROM sessions"),
      ...([401, "unauthorized", "other_session"] as const),
    ],
  ])("%s while it was asked", async (_what, change, status, code, reason) => {
    const answer = await meanwhile(change);
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
    expect(await house.lastAudit()).toMatchObject({ event: "oidc_binding_started", outcome: "failed", reason });
    expect(await attempts()).toBe(0);
  });
});

describe("a binding is not completed", () => {
  const begin = async () => {
    const id = await house.configure();
    const started = await house.authorize(house.person, id);
    return { id, query: house.idp.consent(started.body.authorization_url) };
  };

  test("by another session of the same administrator", async () => {
    const { query } = await begin();
    const browser = await secondBrowser();
    for (const [name, value] of house.person.cookies) if (name.includes("oidc")) browser.cookies.set(name, value);
    await expectRefused(await house.back(browser, query), "other_session");
  });

  test("by nobody's session", async () => {
    const { query } = await begin();
    for (const name of [...house.person.cookies.keys()])
      if (name.includes("session")) house.person.cookies.delete(name);
    await expectRefused(await house.back(house.person, query), "other_session");
  });

  test("by another browser with the same session", async () => {
    const { query } = await begin();
    for (const name of [...house.person.cookies.keys()]) if (name.includes("oidc")) house.person.cookies.delete(name);
    await expectRefused(await house.back(house.person, query), "other_browser");
  });

  test("after signing out", async () => {
    const { query } = await begin();
    await house.person.post("/logout");
    await expectRefused(await house.back(house.person, query), "other_session");
  });

  test("after the password was changed", async () => {
    const { query } = await begin();
    await house.person.post("/account/password", { ...password, new_password: "another-otter-lantern" });
    const answer = await house.back(house.person, query);
    expect(answer.status).toBe(403);
    expect((await house.app.services.oidc.binding()).is_bound).toBe(false);
  });

  test("after signing out while the provider is asked", async () => {
    const { query } = await begin();
    const asked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    house.idp.answer("/jwks", async (_, response) => {
      asked.resolve();
      await goOn.promise;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ keys: house.idp.publicKeys() }));
    });
    const answer = house.back(house.person, query);
    await asked.promise;
    await house.app.db.client.execute("UPDATE sessions SET revoked_at = 1 WHERE kind = 'session'");
    goOn.resolve();
    await expectRefused(await answer, "other_session");
  });

  test.each([["changed"], ["disabled"]])("after the provider was %s", async (how) => {
    const { id, query } = await begin();
    const patch = how === "changed" ? { client_id: "other" } : { is_enabled: false };
    expect((await house.person.api("PATCH", `/oidc-providers/${id}`, patch)).status).toBe(200);
    await expectRefused(await house.back(house.person, query), "provider_changed");
  });

  test("after the provider was deleted and made again", async () => {
    const { id, query } = await begin();
    await house.person.api("DELETE", `/oidc-providers/${id}`);
    await house.configure();
    const answer = await house.back(house.person, query);
    expect(answer.status).toBe(403);
    expect(await house.lastAudit()).toMatchObject({ reason: "state_unknown" });
  });

  test("by the callback of a sign-in, nor a sign-in by the callback of a binding", async () => {
    const id = await house.bind();
    const browser = house.app.browser();
    const login = house.idp.consent(await house.start(browser), { sub: "person-2" });
    await house.person.api("POST", `${bindingPath}/unbind`, password);
    const started = await house.authorize(house.person, id);
    const binding = house.idp.consent(started.body.authorization_url);
    // The administrator's own browser, session and all, with the state of a sign-in.
    for (const [name, value] of browser.cookies) if (name.includes("oidc")) house.person.cookies.set(name, value);
    expect((await house.back(house.person, login)).status).toBe(403);
    expect(await house.lastAudit()).toMatchObject({ event: "login", reason: "not_bound" });
    expect((await house.app.services.oidc.binding()).is_bound).toBe(false);
    // And a browser without a session with the state of a binding.
    expect((await house.back(browser, binding)).status).toBe(403);
    expect(await house.isSignedIn(browser)).toBe(false);
  });

  test("with a token that does not hold", async () => {
    const id = await house.configure();
    const started = await house.authorize(house.person, id);
    const query = house.idp.consent(started.body.authorization_url, { claims: { aud: "other" } });
    await expectRefused(await house.back(house.person, query), "token_audience_wrong");
  });
});

describe("unbinding", () => {
  test("asks for the current password", async () => {
    await house.bind();
    const wrong = await house.person.api("POST", `${bindingPath}/unbind`, { current_password: "not the password" });
    expect(wrong.status).toBe(422);
    expect((await house.app.services.oidc.binding()).is_bound).toBe(true);
  });

  test("works while the provider is down, and local sign-in too", async () => {
    await house.bind();
    await house.idp.close();
    const answer = await house.person.api("POST", `${bindingPath}/unbind`, password);
    expect([answer.status, answer.body]).toMatchObject([200, { is_bound: false, subject: null }]);
    expect(await house.lastAudit()).toMatchObject({ event: "oidc_unbound", outcome: "ok", subject: "person-1" });
    expect(await house.isSignedIn(await secondBrowser())).toBe(true);
  });

  test("without a binding says so", async () => {
    const answer = await house.person.api("POST", `${bindingPath}/unbind`, password);
    expect([answer.status, answer.body.error]).toMatchObject([409, { code: "not_bound" }]);
  });

  test("the database holds no second provider and no second binding", async () => {
    await house.bind();
    const { client } = house.app.db;
    const copy = (table: string, changes: string) => client.execute(`INSERT INTO ${table} ${changes}`);
    const binding = "SELECT 2, provider_id, administrator_id, issuer, 'b', bound_at FROM oidc_bindings";
    await expect(copy("oidc_bindings", binding)).rejects.toThrow(/CHECK/);
    await expect(copy("oidc_bindings", binding.replace("2,", "1,"))).rejects.toThrow(/UNIQUE/);
    await expect(client.execute("DELETE FROM oidc_providers")).rejects.toThrow(/FOREIGN KEY/);
  });
});

test("below a sub-path the cookie and the callback are there", async () => {
  const below = await oidcHouse({ BASE_URL: `${baseUrl}/tide` });
  try {
    const created = await below.person.api("POST", "/oidc-providers", below.input());
    expect(created.body.callback_url as unknown).toBe(`${baseUrl}/tide/auth/oidc/home/callback`);
    await below.person.api("POST", `/oidc-providers/${created.body.id}/admin-binding/authorize`, password);
    await below.app.db.client.execute(
      `INSERT INTO oidc_bindings SELECT 1, p.id, a.id, p.issuer_url, 'person-1', 0 FROM oidc_providers p, administrators a`,
    );
    const answer = await below.app.send("/tide/auth/oidc/home/start");
    const line = answer.headers.getSetCookie().find((each) => each.includes("tidemark_oidc")) ?? "";
    expect(line).toStartWith("__Secure-tidemark_oidc=");
    expect(line).toContain("Path=/tide;");
    const browser = below.app.browser();
    const query = below.idp.consent(await below.start(browser));
    expect((await below.back(browser, query)).location).toBe("/tide/");
  } finally {
    await below.close();
  }
});

test("without a base URL nothing is begun: no request may choose the callback", async () => {
  const nowhere = await oidcHouse({ BASE_URL: "" });
  try {
    const id = await nowhere.configure();
    const view = await nowhere.person.api("GET", `/oidc-providers/${id}`);
    expect(view.body.callback_url as unknown).toBeNull();
    const answer = await nowhere.person.api("POST", `/oidc-providers/${id}/admin-binding/authorize`, password);
    expect([answer.status, answer.body.error]).toMatchObject([409, { code: "base_url_required" }]);
  } finally {
    await nowhere.close();
  }
});
