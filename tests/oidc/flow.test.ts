import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { goodPassword } from "../support/test-app.ts";
import { baseUrl, cookieName, type OidcHouse, oidcHouse } from "./flow.ts";

let house: OidcHouse;
beforeEach(async () => {
  house = await oidcHouse();
});
afterEach(() => house.close());

describe("signing in with the provider", () => {
  test("gives a session of its own, and leads to where it began", async () => {
    await house.bind();
    const browser = house.app.browser();
    const url = new URL(await house.start(browser, "/auth/oidc/home/start?next=/trackers?page=2"));
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      policy: "strict",
      response_type: "code",
      client_id: "tide:mark",
      redirect_uri: `${baseUrl}/auth/oidc/home/callback`,
      scope: "openid email profile",
      code_challenge_method: "S256",
    });
    for (const name of ["state", "nonce", "code_challenge"]) {
      expect(Buffer.from(url.searchParams.get(name) ?? "", "base64url").length).toBe(32);
    }
    const answer = await house.back(browser, house.idp.consent(url.href));
    expect(answer.status).toBe(303);
    expect(answer.location).toBe("/trackers?page=2");
    expect(await house.isSignedIn(browser)).toBe(true);
    expect(await house.lastAudit()).toEqual({ event: "login", outcome: "ok", method: "oidc", provider: "Home" });
  });

  test("sends the verifier, and the client's secret in its header", async () => {
    await house.bind();
    const request = house.idp.lastTokenRequest();
    const form = new URLSearchParams(request?.body);
    expect(form.get("code_verifier")).toMatch(/^[\w-]{43}$/);
    expect(form.get("redirect_uri")).toBe(`${baseUrl}/auth/oidc/home/callback`);
    expect(request?.body).not.toContain("client_secret");
    // As forms encode it and no further: Gitea compares the header without decoding it.
    const header = Buffer.from("tide%3Amark:client-secret+canary%3A1").toString("base64");
    expect(request?.headers.authorization).toBe(`Basic ${header}`);
  });

  test("sets a cookie that comes back from the provider and from nowhere else", async () => {
    await house.bind();
    const answer = await house.app.send("/auth/oidc/home/start");
    const line = answer.headers.getSetCookie().find((each) => each.startsWith(cookieName)) ?? "";
    for (const attribute of ["HttpOnly", "Secure", "SameSite=Lax", "Path=/", "Max-Age=600"])
      expect(line).toContain(attribute);
    expect(line).not.toContain("Domain");
  });

  test.each([
    "//evil.example",
    "/\\evil.example",
    "https://evil.example",
    "/login",
    "/auth/oidc/home/start",
    "trackers",
  ])("never leads to %s", async (next) => {
    await house.bind();
    const browser = house.app.browser();
    const url = await house.start(browser, `/auth/oidc/home/start?next=${encodeURIComponent(next)}`);
    expect((await house.back(browser, house.idp.consent(url))).location).toBe("/");
  });

  test("goes on in two tabs at once", async () => {
    await house.bind();
    const browser = house.app.browser();
    const first = await house.start(browser);
    const second = await house.start(browser);
    expect((await house.back(browser, house.idp.consent(second))).location).toBe("/");
    expect((await house.back(browser, house.idp.consent(first))).location).toBe("/");
  });

  test("goes on where 600 others were begun after it", async () => {
    await house.bind();
    const browser = house.app.browser();
    const first = await house.start(browser);
    await house.app.clock.advance(1);
    for (let count = 0; count < 600; count += 1) {
      await house.app.services.oidc.startLogin({ actor: actor(`192.0.2.${count % 250}`), browser: null }, "home", null);
    }
    expect((await house.back(browser, house.idp.consent(first))).location).toBe("/");
  }, 60_000);
});

const actor = (address: string) => ({ name: null, address, request_id: null });

/** Sends the browser back, and expects the one page, no session, and one audit entry with this reason. */
async function expectRefused(
  browser: ReturnType<OidcHouse["app"]["browser"]>,
  query: Record<string, string> | string,
  reason: string,
  event = "login",
) {
  const before = await house.auditCount();
  const wasSignedIn = browser.cookies.has("__Host-tidemark_session");
  const answer = await house.back(browser, query);
  expect(await house.lastAudit()).toMatchObject({ event, outcome: "failed", method: "oidc", reason });
  expect(await house.auditCount()).toBe(before + 1);
  expect(answer.status).toBe(403);
  expect(answer.text).not.toContain(reason);
  if (!wasSignedIn) expect(browser.cookies.has("__Host-tidemark_session")).toBe(false);
  return answer;
}

test.each<[string, string, () => Promise<unknown>]>([
  [
    "deleted",
    "no_provider",
    async () => {
      await house.app.db.client.execute("DELETE FROM oidc_bindings");
      await house.app.db.client.execute("DELETE FROM oidc_providers");
    },
  ],
  [
    "changed",
    "provider_changed",
    () => house.app.db.client.execute("UPDATE oidc_providers SET revision = revision + 1, client_id = 'other'"),
  ],
])("a provider that is %s while it is asked begins no sign-in", async (_how, reason, change) => {
  await house.bind();
  // Its discovery document is not known any more.
  await house.app.clock.advance(11 * 60_000);
  const { asked, goOn } = house.heldDiscovery();
  const begun = house.app.browser().get("/auth/oidc/home/start");
  await asked;
  await change();
  goOn();
  expect((await begun).status).toBe(403);
  expect(await house.lastAudit()).toMatchObject({ event: "login", outcome: "failed", method: "oidc", reason });
});

test.each([
  [3 * 3_600_000, "token_issued_at_wrong", { minutes: 180, is_ahead: false }],
  [-3 * 3_600_000, "token_expired", { minutes: 180, is_ahead: true }],
])(
  "a provider whose clock is %d ms ahead has tokens that are refused, and the audit names the difference",
  async (ahead, reason, params) => {
    await house.bind();
    house.idp.setClockAhead(ahead);
    const browser = house.app.browser();
    await expectRefused(browser, house.idp.consent(await house.start(browser)), reason);
    expect(await house.lastAudit()).toMatchObject({ clock_data: { code: "net.clock_differs", params } });
  },
);

test("a token that is refused for another time has no clock to blame", async () => {
  await house.bind();
  const browser = house.app.browser();
  const claims = { exp: Math.floor(house.app.clock.now() / 1000) - 600 };
  await expectRefused(browser, house.idp.consent(await house.start(browser), { claims }), "token_expired");
  expect(await house.lastAudit()).not.toHaveProperty("clock_data");
});

describe("a callback is refused", () => {
  const rows: readonly [string, (query: Record<string, string>) => Record<string, string> | string, string][] = [
    ["without a state", ({ code = "", iss = "" }) => ({ code, iss }), "state_unknown"],
    ["with a state that nobody gave out", (query) => ({ ...query, state: "A".repeat(43) }), "state_unknown"],
    ["with an empty state", (query) => ({ ...query, state: "" }), "state_unknown"],
    ["with a longer state", (query) => ({ ...query, state: `${query.state}A` }), "state_unknown"],
    ["without a code", ({ state = "", iss = "" }) => ({ state, iss }), "code_missing"],
    ["with an empty code", (query) => ({ ...query, code: "" }), "code_missing"],
    ["with a code of 5000 characters", (query) => ({ ...query, code: "c".repeat(5000) }), "code_missing"],
    ["with a code that has a line break", (query) => ({ ...query, code: "a\r\nb" }), "code_missing"],
    [
      "with a code that the provider did not give",
      (query) => ({ ...query, code: "invented" }),
      "token_endpoint_refused",
    ],
    [
      "without iss, which the provider promised",
      ({ code = "", state = "" }) => ({ code, state }),
      "issuer_parameter_missing",
    ],
    ["with iss of another provider", (query) => ({ ...query, iss: "https://evil.example" }), "issuer_parameter_wrong"],
    ["with iss and a final slash", (query) => ({ ...query, iss: `${query.iss}/` }), "issuer_parameter_wrong"],
    ["with an empty iss", (query) => ({ ...query, iss: "" }), "issuer_parameter_wrong"],
    ["with two codes", (query) => `${new URLSearchParams(query)}&code=b`, "duplicate_parameter"],
    ["with the same code twice", (query) => `${new URLSearchParams(query)}&code=${query.code}`, "duplicate_parameter"],
    ["with two states", (query) => `${new URLSearchParams(query)}&state=b`, "duplicate_parameter"],
    [
      "with the same state twice",
      (query) => `${new URLSearchParams(query)}&state=${query.state}`,
      "duplicate_parameter",
    ],
    ["with two iss", (query) => `${new URLSearchParams(query)}&iss=https://evil.example`, "duplicate_parameter"],
    ["with two errors", (query) => `${new URLSearchParams(query)}&error=a&error=b`, "duplicate_parameter"],
    ["with an escaped second code", (query) => `${new URLSearchParams(query)}&%63ode=b`, "duplicate_parameter"],
    ["with an ID token beside the code", (query) => ({ ...query, id_token: "a.b.c" }), "malformed_response"],
    ["with an access token beside the code", (query) => ({ ...query, access_token: "a" }), "malformed_response"],
    ["with a JARM response", (query) => ({ ...query, response: "a.b.c" }), "malformed_response"],
    ["with an error beside the code", (query) => ({ ...query, error: "access_denied" }), "provider_error"],
    ["with nothing", () => "", "state_unknown"],
    ["with 20 KB", (query) => ({ ...query, more: "m".repeat(20_000) }), "state_unknown"],
  ];
  test.each(rows)("%s", async (_, change, reason) => {
    await house.bind();
    const browser = house.app.browser();
    const query = house.idp.consent(await house.start(browser));
    const expected =
      reason === "state_unknown" && JSON.stringify(change(query)).length > 16_384 ? "malformed_response" : reason;
    await expectRefused(browser, change(query), expected);
  });

  test("with the same text for every cause", async () => {
    await house.bind();
    const browser = house.app.browser();
    const texts = new Set<string>();
    for (const [, change, reason] of rows.slice(0, 12)) {
      const query = house.idp.consent(await house.start(browser));
      const answer = await expectRefused(browser, change(query), reason);
      texts.add(answer.text);
    }
    expect(texts.size).toBe(1);
  });

  test("by a page at another address: neither code nor state stay in the browser's history", async () => {
    await house.bind();
    const browser = house.app.browser();
    const { code = "", state = "", iss = "" } = house.idp.consent(await house.start(browser));
    const query = new URLSearchParams({ code, state, iss: "https://evil.example" });
    const answer = await browser.get(`/auth/oidc/home/callback?${query}`);
    expect([answer.status, answer.location]).toEqual([303, "/auth/oidc/failed"]);
    const page = await browser.get(answer.location ?? "");
    expect(page.status).toBe(403);
    expect(page.text).toContain("Sign-in through the provider failed");
    for (const secret of [code, state, iss]) expect(answer.text + page.text).not.toContain(secret);
  });

  test("after the provider's own error, of which nothing is shown", async () => {
    await house.bind();
    const browser = house.app.browser();
    const { state = "", iss = "" } = house.idp.consent(await house.start(browser));
    const text = "<script>alert(1)</script>";
    const query = { state, iss, error: text, error_description: text, error_uri: "javascript:alert(1)" };
    const answer = await expectRefused(browser, query, "provider_error");
    expect(answer.text).not.toContain("alert(1)");
    expect(await house.lastAudit()).toMatchObject({ provider_error: "other" });
  });

  test("the second time", async () => {
    await house.bind();
    const browser = house.app.browser();
    const query = house.idp.consent(await house.start(browser));
    expect((await house.back(browser, query)).location).toBe("/");
    const asked = house.idp.asked("/token");
    await expectRefused(browser, query, "state_unknown");
    expect(house.idp.asked("/token")).toBe(asked);
  });

  test("by HEAD without using up the state", async () => {
    await house.bind();
    const browser = house.app.browser();
    const query = house.idp.consent(await house.start(browser));
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const path = `/auth/oidc/home/callback?${new URLSearchParams(query)}`;
    expect((await house.app.send(path, { method: "HEAD", headers: { cookie } })).status).toBe(405);
    expect((await house.back(browser, query)).location).toBe("/");
  });

  test("the second time of two at once", async () => {
    await house.bind();
    const browser = house.app.browser();
    const query = house.idp.consent(await house.start(browser));
    const answers = await Promise.all([house.back(browser, query), house.back(browser, query)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 403]);
  });

  test("after a first one that failed: the state is used up", async () => {
    await house.bind();
    const browser = house.app.browser();
    const query = house.idp.consent(await house.start(browser));
    await expectRefused(browser, { ...query, iss: "https://evil.example" }, "issuer_parameter_wrong");
    await expectRefused(browser, query, "state_unknown");
  });

  test("ten minutes after the start", async () => {
    await house.bind();
    const browser = house.app.browser();
    const query = house.idp.consent(await house.start(browser));
    await house.app.clock.advance(10 * 60_000);
    await expectRefused(browser, query, "attempt_expired");
  });

  test("in a browser that did not begin it", async () => {
    await house.bind();
    const query = house.idp.consent(await house.start(house.app.browser()));
    await expectRefused(house.app.browser(), query, "other_browser");
  });

  test("in a browser that began another one", async () => {
    await house.bind();
    const query = house.idp.consent(await house.start(house.app.browser()));
    const browser = house.app.browser();
    await house.start(browser);
    await expectRefused(browser, query, "other_browser");
  });

  test("under another slug", async () => {
    await house.bind();
    const browser = house.app.browser();
    const query = house.idp.consent(await house.start(browser));
    const answer = await house.back(browser, query, "other");
    expect(answer.status).toBe(403);
    expect(await house.lastAudit()).toMatchObject({ reason: "other_provider" });
  });

  test("with the code of another attempt: its verifier and nonce are others", async () => {
    await house.bind();
    const browser = house.app.browser();
    const mine = house.idp.consent(await house.start(browser));
    const foreign = house.idp.consent(await house.start(house.app.browser()));
    await expectRefused(browser, { ...mine, code: foreign.code ?? "" }, "token_endpoint_refused");
  });

  test("from where too many come", async () => {
    await house.bind();
    const browser = house.app.browser();
    const answers: number[] = [];
    for (let count = 0; count < 70; count += 1) answers.push((await house.back(browser, { state: "x" })).status);
    expect(answers.at(-1)).toBe(429);
    const throttled = await browser.get("/auth/oidc/home/callback?state=x&code=y");
    expect([throttled.status, throttled.location]).toEqual([303, "/auth/oidc/failed?wait=1"]);
    expect((await browser.get(throttled.location ?? "")).headers.get("retry-after")).toBe("1");
    for (const wait of ["0", "-1", "99999", "1x", ""]) {
      expect((await browser.get(`/auth/oidc/failed?wait=${wait}`)).status).toBe(403);
    }
    const failures = (await house.app.services.audit_entries.list({ limit: 100, outcome: "failed" })).items.length;
    expect(failures).toBeLessThanOrEqual(60);
  });
});

describe("a token that holds signs nobody in", () => {
  const rows: readonly [string, { sub?: string; claims?: Record<string, unknown> }, string][] = [
    ["for another subject", { sub: "person-2" }, "subject_not_bound"],
    ["for the subject in another case", { sub: "Person-1" }, "subject_not_bound"],
    ["for the subject with a blank", { sub: "person-1 " }, "subject_not_bound"],
    [
      "for the bound person by mail alone",
      { sub: "x", claims: { email: "admin@example.org", email_verified: true } },
      "subject_not_bound",
    ],
    ["with the nonce of nobody", { claims: { nonce: "other" } }, "token_nonce_wrong"],
    ["without a nonce", { claims: { nonce: undefined } }, "token_claims_malformed"],
    ["for another client", { claims: { aud: "other" } }, "token_audience_wrong"],
    ["of another issuer", { claims: { iss: "https://evil.example" } }, "token_issuer_wrong"],
  ];
  test.each(rows)("%s", async (_, consent, reason) => {
    await house.bind();
    const browser = house.app.browser();
    await expectRefused(browser, house.idp.consent(await house.start(browser), consent), reason);
  });

  test("while nothing is bound", async () => {
    await house.configure();
    const answer = await house.app.browser().get("/auth/oidc/home/start");
    expect(answer.status).toBe(403);
    expect(await house.lastAudit()).toMatchObject({ event: "login", outcome: "failed", reason: "not_bound" });
    expect(await house.app.services.oidc.loginProvider()).toBeNull();
  });

  test("after the binding was removed on the way", async () => {
    await house.bind();
    const browser = house.app.browser();
    const query = house.idp.consent(await house.start(browser));
    await house.person.api("POST", "/oidc-providers/admin-binding/unbind", { current_password: goodPassword });
    await expectRefused(browser, query, "not_bound");
  });

  test("after another subject was bound on the way", async () => {
    const id = await house.bind();
    const browser = house.app.browser();
    const query = house.idp.consent(await house.start(browser));
    await house.person.api("POST", "/oidc-providers/admin-binding/unbind", { current_password: goodPassword });
    const started = await house.authorize(house.person, id);
    await house.back(house.person, house.idp.consent(started.body.authorization_url, { sub: "person-2" }));
    await expectRefused(browser, query, "subject_not_bound");
  });

  test.each([
    ["changed", { display_name: "Other" }, "provider_changed"],
    ["disabled", { is_enabled: false }, "provider_changed"],
  ])("after the provider was %s on the way", async (_, patch, reason) => {
    const id = await house.bind();
    const browser = house.app.browser();
    const query = house.idp.consent(await house.start(browser));
    await house.person.api("POST", "/oidc-providers/admin-binding/unbind", { current_password: goodPassword });
    expect((await house.person.api("PATCH", `/oidc-providers/${id}`, patch)).status).toBe(200);
    await expectRefused(browser, query, reason);
  });

  test("after the provider was deleted on the way", async () => {
    const id = await house.bind();
    const browser = house.app.browser();
    const query = house.idp.consent(await house.start(browser));
    await house.person.api("POST", "/oidc-providers/admin-binding/unbind", { current_password: goodPassword });
    await house.person.api("DELETE", `/oidc-providers/${id}`);
    await expectRefused(browser, query, "state_unknown");
  });

  test("after the provider was switched off on the way, nor before it is on again", async () => {
    const id = await house.bind();
    const browser = house.app.browser();
    const query = house.idp.consent(await house.start(browser));
    const count = await house.auditCount();
    const one = `/oidc-providers/${id}`;
    expect((await house.person.api("PATCH", one, { is_enabled: false })).status).toBe(200);
    await expectRefused(browser, query, "provider_changed");
    expect((await browser.get("/auth/oidc/home/start")).status).toBe(403);
    expect(await house.lastAudit()).toMatchObject({ event: "login", outcome: "failed", reason: "provider_disabled" });
    // One entry each: the switch, the way back, the start.
    expect(await house.auditCount()).toBe(count + 3);
    expect((await browser.get("/login")).text).not.toContain("/auth/oidc/");
    expect((await house.person.api("PATCH", one, { is_enabled: true })).status).toBe(200);
    expect((await browser.get("/login")).text).toContain("/auth/oidc/home/start");
    expect((await house.back(browser, house.idp.consent(await house.start(browser)))).location).toBe("/");
  });

  test("of a provider that was disabled beside the service", async () => {
    await house.bind();
    const browser = house.app.browser();
    const query = house.idp.consent(await house.start(browser));
    await house.app.db.client.execute("UPDATE oidc_providers SET is_enabled = 0");
    await expectRefused(browser, query, "provider_disabled");
    expect((await browser.get("/auth/oidc/home/start")).status).toBe(403);
    expect(await house.app.services.oidc.loginProvider()).toBeNull();
  });

  test("as a Bearer token of the API", async () => {
    await house.bind();
    const browser = house.app.browser();
    await house.back(browser, house.idp.consent(await house.start(browser)));
    const token = house.idp.issued.at(-1) ?? "";
    const answer = await house.app.send("/api/account", { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(401);
  });
});

describe("with a password that must be changed", () => {
  test("the session leads to that change first", async () => {
    await house.bind();
    await house.app.db.client.execute("UPDATE administrators SET is_password_change_required = 1");
    const browser = house.app.browser();
    const answer = await house.back(browser, house.idp.consent(await house.start(browser)));
    expect(answer.location).toBe("/account/password");
    expect((await browser.get("/trackers")).location).toBe("/account/password");
  });
});

test("nothing of the tokens, codes and secrets is stored, logged or shown", async () => {
  await house.bind();
  house.app.services.settings.current();
  const browser = house.app.browser();
  const answer = await house.back(browser, house.idp.consent(await house.start(browser)));
  house.idp.answer("/token", (_, response) => {
    response.writeHead(500, { "content-type": "text/plain" });
    response.end("code-canary-3 access-canary-1");
  });
  const refused = await house.back(browser, house.idp.consent(await house.start(browser)));
  const tables = ["oidc_attempts", "oidc_bindings", "oidc_providers", "audit_entries", "sessions", "settings"];
  const rows = await Promise.all(tables.map((table) => house.app.db.client.execute(`SELECT * FROM ${table}`)));
  const api = await house.person.api("GET", "/oidc-providers");
  const everything = [
    JSON.stringify(rows.map(({ rows: found }) => found)),
    house.app.lines.join("\n"),
    JSON.stringify(api.body),
    answer.text,
    answer.location ?? "",
    refused.text,
  ].join("\n");
  for (const canary of [...house.idp.codes, ...house.idp.issued, "access-canary-1", "client-secret canary:1"]) {
    expect(everything).not.toContain(canary);
  }
  expect(house.idp.codes.length).toBe(3);
});
