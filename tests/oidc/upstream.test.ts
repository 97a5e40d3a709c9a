import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { until } from "../support/fake-clock.ts";
import { type OidcHouse, oidcHouse } from "./flow.ts";
import { makeKey, type PublishedKey } from "./signing.ts";

let house: OidcHouse;
beforeEach(async () => {
  house = await oidcHouse();
});
afterEach(() => house.close());

const send = (response: ServerResponse, status: number, type: string, body: string) => {
  response.writeHead(status, { "content-type": type });
  response.end(body);
};

async function reason() {
  return (await house.lastAudit()).reason;
}

/** Ends `work`, which waits for an answer of `path` that never comes whole, by its own deadline. */
async function byDeadline<T>(path: string, before: number, work: Promise<T>): Promise<T> {
  await until(() => house.idp.asked(path) > before);
  return await house.app.clock.runUntil(work);
}

/** A sign-in that comes back from the provider now; `hanging` is the path that it waits at until its deadline. */
async function signIn(hanging?: string) {
  const browser = house.app.browser();
  const query = house.idp.consent(await house.start(browser));
  const before = hanging === undefined ? 0 : house.idp.asked(hanging);
  const work = house.back(browser, query);
  const answer = hanging === undefined ? await work : await byDeadline(hanging, before, work);
  return { browser, answer };
}

describe("a token endpoint that", () => {
  const token = '{"token_type":"Bearer","access_token":"a","id_token":"a.b.c"}';
  const rows: readonly [string, (response: ServerResponse) => void, string][] = [
    ["answers with HTML", (to) => send(to, 200, "text/html", "<h1>Welcome</h1>"), "token_endpoint_refused"],
    ["calls JSON HTML", (to) => send(to, 200, "text/html", token), "token_endpoint_refused"],
    [
      "answers with half of its JSON",
      (to) => send(to, 200, "application/json", token.slice(0, 20)),
      "token_endpoint_refused",
    ],
    ["answers with a list", (to) => send(to, 200, "application/json", "[]"), "token_endpoint_refused"],
    [
      "names id_token twice",
      (to) => send(to, 200, "application/json", `{"id_token":"x",${token.slice(1)}`),
      "token_endpoint_refused",
    ],
    ["answers with 201", (to) => send(to, 201, "application/json", token), "token_endpoint_refused"],
    [
      "refuses the code",
      (to) => send(to, 400, "application/json", '{"error":"invalid_grant"}'),
      "token_endpoint_refused",
    ],
    ["fails", (to) => send(to, 500, "text/plain", "oh"), "provider_unreachable"],
    ["limits the rate", (to) => send(to, 429, "application/json", "{}"), "provider_unreachable"],
    ["hangs up", (to) => void to.destroy(), "provider_unreachable"],
    ["says nothing", () => undefined, "provider_unreachable"],
    [
      "drips",
      (to) => {
        to.writeHead(200, { "content-type": "application/json" });
        to.write("{");
      },
      "provider_unreachable",
    ],
    [
      "answers with 200 KB",
      (to) => send(to, 200, "application/json", `{"x":"${"x".repeat(200_000)}"}`),
      "token_endpoint_refused",
    ],
    ["sends no ID token", (to) => send(to, 200, "application/json", '{"access_token":"a"}'), "id_token_missing"],
    [
      "sends an ID token that is a number",
      (to) => send(to, 200, "application/json", '{"id_token":1}'),
      "token_response_invalid",
    ],
    ["sends an ID token that is none", (to) => send(to, 200, "application/json", token), "token_malformed"],
  ];
  test.each(rows)("%s gives no session", async (_, answer, expected) => {
    await house.bind();
    house.idp.answer("/token", (_request, response) => answer(response));
    const { browser, answer: page } = await signIn(expected === "provider_unreachable" ? "/token" : undefined);
    expect(page.status).toBe(403);
    expect(await reason()).toBe(expected);
    expect(await house.isSignedIn(browser)).toBe(false);
  });

  test("redirects is not followed with the code", async () => {
    await house.bind();
    house.idp.answer("/token", (_, response) => {
      response.writeHead(307, { location: `${house.idp.issuer}/stolen` });
      response.end();
    });
    expect((await signIn()).answer.status).toBe(403);
    expect(house.idp.asked("/stolen")).toBe(0);
  });

  test("is asked once for a code, also when it fails", async () => {
    await house.bind();
    const before = house.idp.asked("/token");
    house.idp.answer("/token", (_, response) => send(response, 503, "text/plain", ""));
    await signIn();
    expect(house.idp.asked("/token")).toBe(before + 1);
  });
});

describe("a provider that limits the rate", () => {
  const discovery = "/.well-known/openid-configuration";
  const limited = (_: unknown, to: ServerResponse) => {
    to.writeHead(429, { "content-type": "application/json", "retry-after": "86400" });
    to.end("{}");
  };

  test("of a stranger's code refuses neither the next sign-in nor the next start", async () => {
    await house.bind();
    house.idp.answer("/token", limited);
    expect((await signIn()).answer.status).toBe(403);
    expect(await reason()).toBe("provider_unreachable");
    house.idp.answer("/token", null);
    expect((await signIn()).answer.location).toBe("/");
    await house.app.clock.advance(20 * 60_000);
    expect((await signIn()).answer.location).toBe("/");
    expect(house.app.services.rates()).toEqual([]);
  });

  test.each([
    [discovery, "provider_unreachable"],
    ["/jwks", "provider_unreachable"],
  ])("at %s is told as one that cannot be reached, and is asked again the next time", async (path, expected) => {
    await house.bind();
    await house.app.clock.advance(10 * 60_000);
    house.idp.answer(path, limited);
    const browser = house.app.browser();
    const started = await browser.get("/auth/oidc/home/start");
    if (path === discovery) expect(started.status).toBe(403);
    else expect((await house.back(browser, house.idp.consent(started.location ?? ""))).status).toBe(403);
    expect(await reason()).toBe(expected);
    house.idp.answer(path, null);
    expect((await signIn()).answer.location).toBe("/");
  });
});

describe("a discovery document that", () => {
  const path = "/.well-known/openid-configuration";
  const begin = async (isHanging = false) => {
    const id = await house.configure();
    const body = { current_password: "kelp-otter-lantern" };
    const work = house.person.api("POST", `/oidc-providers/${id}/admin-binding/authorize`, body);
    return isHanging ? await byDeadline(path, 0, work) : await work;
  };
  test.each<[string, Record<string, unknown>, string]>([
    ["names another issuer", { issuer: "https://evil.example" }, "metadata_issuer_wrong"],
    ["names the issuer with a slash", { issuer: "http://127.0.0.1/" }, "metadata_issuer_wrong"],
    ["names no issuer", { issuer: undefined }, "metadata_invalid"],
    ["has no token endpoint", { token_endpoint: undefined }, "metadata_invalid"],
    ["has no JWKS", { jwks_uri: undefined }, "metadata_invalid"],
    ["has a JWKS by http elsewhere", { jwks_uri: "http://id.example/jwks" }, "endpoint_not_https"],
    ["has a token endpoint by http elsewhere", { token_endpoint: "http://id.example/token" }, "endpoint_not_https"],
    ["has a script for an endpoint", { authorization_endpoint: "javascript:alert(1)" }, "endpoint_not_https"],
    ["has a data address for a JWKS", { jwks_uri: "data:application/json,{}" }, "endpoint_not_https"],
    ["has a user in an endpoint", { token_endpoint: "https://a:b@id.example/token" }, "endpoint_not_https"],
    ["signs with HS256 alone", { id_token_signing_alg_values_supported: ["HS256"] }, "metadata_invalid"],
    ["signs with none alone", { id_token_signing_alg_values_supported: ["none"] }, "metadata_invalid"],
    ["is larger than 256 KiB", { padding: "x".repeat(300_000) }, "metadata_invalid"],
    ["knows no code flow", { response_types_supported: ["id_token"] }, "metadata_invalid"],
    ["knows no client secret", { token_endpoint_auth_methods_supported: ["private_key_jwt"] }, "metadata_invalid"],
  ])("%s is refused", async (_, changes, expected) => {
    house.idp.setMetadata(changes);
    const answer = await begin();
    expect([answer.status, answer.body.error]).toMatchObject([424, { code: "provider_unusable" }]);
    expect(await reason()).toBe(expected);
  });

  test.each<[string, (response: ServerResponse) => void, string]>([
    ["is HTML", (to) => send(to, 200, "text/html", "<h1>"), "metadata_invalid"],
    ["is not there", (to) => send(to, 404, "application/json", "{}"), "metadata_invalid"],
    ["is somewhere else", (to) => void to.writeHead(302, { location: "/other" }).end(), "metadata_invalid"],
    [
      "never ends",
      (to) => void to.writeHead(200, { "content-type": "application/json" }).write("{"),
      "provider_unreachable",
    ],
    ["never begins", (to) => void to.destroy(), "provider_unreachable"],
  ])("%s is refused", async (name, answer, expected) => {
    house.idp.answer(path, (_request, response) => answer(response));
    expect((await begin(expected === "provider_unreachable")).status).toBe(424);
    expect(await reason()).toBe(expected);
    // One deadline for all tries: a page waits for it.
    if (name === "never ends") expect(house.idp.asked(path)).toBe(1);
    expect(house.idp.asked("/other")).toBe(0);
  });

  test("offers the secret in the form alone gets it there", async () => {
    house.idp.setMetadata({ token_endpoint_auth_methods_supported: ["client_secret_post"] });
    const id = await house.configure();
    const started = await house.authorize(house.person, id);
    await house.back(house.person, house.idp.consent(started.body.authorization_url));
    const request = house.idp.lastTokenRequest();
    expect(request?.headers.authorization).toBeUndefined();
    expect(new URLSearchParams(request?.body).get("client_secret")).toBe("client-secret canary:1");
  });

  test("is kept for ten minutes", async () => {
    await house.bind();
    const before = house.idp.asked(path);
    await signIn();
    expect(house.idp.asked(path)).toBe(before);
    await house.app.clock.advance(10 * 60_000);
    await signIn();
    expect(house.idp.asked(path)).toBe(before + 1);
  });

  test.each([
    ["token endpoint", { token_endpoint: "https://169.254.169.254/token" }, "token_endpoint_refused"],
    ["JWKS", { jwks_uri: "https://[fd00:ec2::254]/jwks" }, "jwks_invalid"],
  ])("names a metadata address for its %s leads nowhere", async (_, changes, expected) => {
    await house.bind();
    await house.app.clock.advance(10 * 60_000);
    house.idp.setMetadata(changes);
    expect((await signIn()).answer.status).toBe(403);
    expect(await reason()).toBe(expected);
  });
});

describe("keys", () => {
  test("that change between the start and the callback are read again", async () => {
    await house.bind();
    const browser = house.app.browser();
    const query = house.idp.consent(await house.start(browser));
    house.idp.setKeys([makeKey("ES256", "second")]);
    expect((await house.back(browser, query)).location).toBe("/");
  });

  const unnamed = (): PublishedKey => {
    const { jwk, ...key } = makeKey("RS256", "any");
    const { kid: _left_out, ...rest } = jwk;
    return { ...key, kid: undefined, jwk: rest };
  };
  test.each<[string, () => PublishedKey]>([
    ["under the name of the former", () => makeKey("RS256", "same")],
    ["without a name", unnamed],
  ])("that were changed %s are read again after a bad signature", async (_, make) => {
    house.idp.setKeys([make()]);
    await house.bind();
    expect((await signIn()).answer.location).toBe("/");
    const before = house.idp.asked("/jwks");
    house.idp.setKeys([make()]);
    expect((await signIn()).answer.location).toBe("/");
    expect((await signIn()).answer.location).toBe("/");
    expect(house.idp.asked("/jwks")).toBe(before + 1);
  });

  test("without names, of which two fit for a while, are read again until one is left", async () => {
    house.idp.setKeys([unnamed()]);
    await house.bind();
    const next = unnamed();
    house.idp.setKeys([next, unnamed()]);
    expect((await signIn()).answer.status).toBe(403);
    expect(await reason()).toBe("token_key_ambiguous");
    house.idp.setKeys([next]);
    await house.app.clock.advance(30_000);
    expect((await signIn()).answer.location).toBe("/");
  });

  test("that several sign-ins find changed at once are read again for all of them", async () => {
    house.idp.setKeys([makeKey("RS256", "same")]);
    await house.bind();
    house.idp.setKeys([makeKey("RS256", "same")]);
    const before = house.idp.asked("/jwks");
    const answers = await Promise.all([signIn(), signIn(), signIn()]);
    expect(answers.map(({ answer }) => answer.location)).toEqual(["/", "/", "/"]);
    expect(house.idp.asked("/jwks")).toBe(before + 1);
  });

  test("that did not sign the token are read again once in 30 seconds", async () => {
    await house.bind();
    const [former] = house.idp.publicKeys();
    house.idp.setKeys([makeKey("RS256", "first")]);
    house.idp.answer("/jwks", (_, to) => send(to, 200, "application/json", JSON.stringify({ keys: [former] })));
    const before = house.idp.asked("/jwks");
    for (let count = 0; count < 3; count += 1) {
      expect((await signIn()).answer.status).toBe(403);
      expect(await reason()).toBe("token_signature_wrong");
    }
    expect(house.idp.asked("/jwks")).toBe(before + 1);
  });

  test("that are unknown are looked for once in 30 seconds", async () => {
    await house.bind();
    const known = makeKey("RS256", "known");
    const unknown = makeKey("RS256", "unknown");
    house.idp.setKeys([unknown]);
    house.idp.answer("/jwks", (_, to) => send(to, 200, "application/json", JSON.stringify({ keys: [known.jwk] })));
    const before = house.idp.asked("/jwks");
    for (let count = 0; count < 3; count += 1) {
      expect((await signIn()).answer.status).toBe(403);
      expect(await reason()).toBe("token_key_unknown");
    }
    expect(house.idp.asked("/jwks")).toBe(before + 1);
    await house.app.clock.advance(30_000);
    await signIn();
    expect(house.idp.asked("/jwks")).toBe(before + 2);
  });

  test("are kept for ten minutes", async () => {
    await house.bind();
    const before = house.idp.asked("/jwks");
    await signIn();
    expect(house.idp.asked("/jwks")).toBe(before);
    await house.app.clock.advance(10 * 60_000);
    await signIn();
    expect(house.idp.asked("/jwks")).toBe(before + 1);
  });

  test.each<[string, (response: ServerResponse) => void, string]>([
    ["are not there", (to) => send(to, 404, "text/plain", ""), "jwks_invalid"],
    ["are HTML", (to) => send(to, 200, "text/html", "<h1>"), "jwks_invalid"],
    ["are somewhere else", (to) => void to.writeHead(302, { location: "/other" }).end(), "jwks_invalid"],
    [
      "are more than 256 KiB",
      (to) => send(to, 200, "application/json", `{"keys":[],"x":"${"x".repeat(300_000)}"}`),
      "jwks_invalid",
    ],
    ["are none", (to) => send(to, 200, "application/json", '{"keys":[]}'), "token_key_unknown"],
    ["never come", () => undefined, "provider_unreachable"],
  ])("that %s give no session", async (_, answer, expected) => {
    await house.bind();
    await house.app.clock.advance(10 * 60_000);
    house.idp.answer("/jwks", (_request, response) => answer(response));
    expect((await signIn(expected === "provider_unreachable" ? "/jwks" : undefined)).answer.status).toBe(403);
    expect(await reason()).toBe(expected);
    expect(house.idp.asked("/other")).toBe(0);
  });

  test("that were gone for a moment are found the next time", async () => {
    await house.bind();
    await house.app.clock.advance(10 * 60_000);
    house.idp.answer("/jwks", (_, to) => send(to, 404, "text/plain", ""));
    expect((await signIn()).answer.status).toBe(403);
    house.idp.answer("/jwks", null);
    expect((await signIn()).answer.location).toBe("/");
  });
});

describe("a provider that", () => {
  test("is down is told in words to whoever binds, and to nobody else", async () => {
    await house.bind();
    await house.app.clock.advance(10 * 60_000);
    await house.idp.close();
    const page = await house.app.browser().get("/auth/oidc/home/start");
    expect(page.status).toBe(403);
    expect(page.text).not.toContain("127.0.0.1");
    expect(await reason()).toBe("provider_unreachable");
    expect(house.app.lines.join("\n")).toContain("the connection was refused");
  });

  test("promises no iss is taken without it, and refused with another", async () => {
    house.idp.setMetadata({ authorization_response_iss_parameter_supported: undefined });
    await house.bind();
    const browser = house.app.browser();
    const { code = "", state = "" } = house.idp.consent(await house.start(browser));
    expect((await house.back(browser, { code, state })).location).toBe("/");
    const other = house.idp.consent(await house.start(browser));
    expect((await house.back(browser, { ...other, iss: "https://evil.example" })).status).toBe(403);
  });

  test("was entered by hand is asked for nothing but its endpoints", async () => {
    const { issuer } = house.idp;
    await house.bind("person-1", {
      is_discovery_enabled: false,
      authorization_url: `${issuer}/authorize`,
      token_url: `${issuer}/token`,
      jwks_url: `${issuer}/jwks`,
      userinfo_url: `${issuer}/userinfo`,
    });
    expect((await signIn()).answer.location).toBe("/");
    expect(house.idp.asked("/.well-known/openid-configuration")).toBe(0);
    expect(house.idp.asked("/userinfo")).toBe(0);
  });

  test("asks at once for many sign-ins is asked for its document once", async () => {
    await house.bind();
    await house.app.clock.advance(10 * 60_000);
    const before = house.idp.asked("/.well-known/openid-configuration");
    const browsers = Array.from({ length: 20 }, () => house.app.browser());
    await Promise.all(browsers.map((browser) => house.start(browser)));
    expect(house.idp.asked("/.well-known/openid-configuration")).toBe(before + 1);
  });
});
