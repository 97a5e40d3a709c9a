import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { apiRoutes } from "../../src/http/api/index.ts";
import { goodPassword, type TestApp, testApp } from "../support/test-app.ts";

// A session's token is a claim: whatever is not wholly ours is nobody, on the API and on the pages alike.

let app: TestApp;
let good = "";
let claims: Record<string, unknown> = {};
const header = { alg: "HS256", typ: "tidemark-session+jwt" };
const day = 24 * 3600;

const part = (value: unknown) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

/** Signed by hand: libraries would refuse to write most of these. */
function signed(payload: unknown, head: unknown = header, key: Uint8Array = app.keys.session, hash = "sha256"): string {
  const text = `${part(head)}.${part(payload)}`;
  return `${text}.${createHmac(hash, key).update(text).digest("base64url")}`;
}
const changed = (changes: Record<string, unknown>) => {
  const merged = { ...claims, ...changes };
  return signed(Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined)));
};
const headed = (changes: Record<string, unknown>, key?: Uint8Array, hash?: string) =>
  signed(claims, { ...header, ...changes }, key, hash);
const parts = () => good.split(".") as [string, string, string];
const seconds = () => Math.floor(app.clock.now() / 1000);

function rsaSigned(alg: string): string {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const text = `${part({ ...header, alg })}.${part(claims)}`;
  return `${text}.${sign("sha256", Buffer.from(text), privateKey).toString("base64url")}`;
}

beforeAll(async () => {
  app = await testApp();
  await app.signedIn();
  const body = JSON.stringify({ username: "admin", password: goodPassword });
  const headers = { "content-type": "application/json" };
  good = ((await (await app.send("/api/session", { method: "POST", headers, body })).json()) as { token: string })
    .token;
  claims = JSON.parse(Buffer.from(parts()[1], "base64url").toString("utf8"));
});
afterAll(() => app.close());

const missing = ["iss", "aud", "sub", "jti", "iat", "exp", "epoch"].map((name): [string, () => string] => [
  `without ${name}`,
  () => changed({ [name]: undefined }),
]);
const ofAnotherType = ["iss", "aud", "sub", "jti", "iat", "exp", "epoch"].flatMap((name): [string, () => string][] =>
  [null, true, [], {}, ""].map((value) => [
    `with ${JSON.stringify(value)} as ${name}`,
    () => changed({ [name]: value }),
  ]),
);

const hostile: [string, () => string][] = [
  ...missing,
  ...ofAnotherType,
  ["with the number of iat as text", () => changed({ iat: String(claims.iat) })],
  ["with the number of exp as text", () => changed({ exp: String(claims.exp) })],
  ["with the epoch as text", () => changed({ epoch: String(claims.epoch) })],
  ["with fractions of a second", () => changed({ exp: Number(claims.exp) + 0.5 })],
  ["with an infinite end", () => signed(JSON.stringify(claims).replace(/"exp":\d+/, '"exp":1e999'))],
  ["with a huge end", () => changed({ exp: 1e300 })],
  ["with a negative end", () => changed({ exp: -1 })],
  ["expired a second ago", () => changed({ exp: seconds() - 1 })],
  ["expired a year ago", () => changed({ iat: seconds() - 366 * day, exp: seconds() - 365 * day })],
  ["begun in an hour", () => changed({ iat: seconds() + 3600, exp: seconds() + 7200 })],
  ["begun a second before its session", () => changed({ iat: Number(claims.iat) - 1 })],
  ["that ends before it begins", () => changed({ exp: Number(claims.iat) })],
  ["of another issuer", () => changed({ iss: "https://id.example" })],
  ["of our issuer in capitals", () => changed({ iss: "Tidemark" })],
  ["of several issuers", () => changed({ iss: ["tidemark"] })],
  ["for another audience", () => changed({ aud: "tidemark" })],
  ["for several audiences", () => changed({ aud: [claims.aud, "other"] })],
  ["for our audience in a list", () => changed({ aud: [claims.aud] })],
  ["of an unknown session", () => changed({ jti: "01900000-0000-7000-8000-000000000000" })],
  ["of a session in capitals", () => changed({ jti: String(claims.jti).toUpperCase() })],
  ["of a session with a wildcard", () => changed({ jti: "%" })],
  ["of a session by SQL", () => changed({ jti: "' or '1'='1" })],
  ["of a session with a blank behind", () => changed({ jti: `${claims.jti} ` })],
  ["of a session with a null behind", () => changed({ jti: `${claims.jti}\0` })],
  ["of another account", () => changed({ sub: "01900000-0000-7000-8000-000000000000" })],
  ["of the account's name", () => changed({ sub: "admin" })],
  ["of the epoch before", () => changed({ epoch: Number(claims.epoch) - 1 })],
  ["of the epoch after", () => changed({ epoch: Number(claims.epoch) + 1 })],
  ["with a claim too many", () => changed({ admin: true })],
  ["that is not valid yet", () => changed({ nbf: seconds() + 3600 })],
  ["with a prototype", () => signed(JSON.stringify(claims).replace("{", '{"__proto__":{"epoch":0},'))],
  ["with a claim twice", () => signed(JSON.stringify(claims).replace("{", '{"jti":"x",').replace(/}$/, ',"sub":"x"}'))],
  ["of no claims", () => signed({})],
  ["of a list", () => signed([claims])],
  ["of a text", () => signed('"admin"')],
  ["of null", () => signed("null")],
  ["of no JSON", () => signed("{")],
  [
    "of no UTF-8",
    () =>
      `${part(header)}.gICA.${createHmac("sha256", app.keys.session)
        .update(`${part(header)}.gICA`)
        .digest("base64url")}`,
  ],
  ["with a token within", () => signed(good)],
  ["with a token as a claim", () => changed({ jti: good })],
  ["of algorithm none", () => `${part({ ...header, alg: "none" })}.${parts()[1]}.`],
  ["of algorithm none with our signature", () => `${part({ ...header, alg: "none" })}.${parts()[1]}.${parts()[2]}`],
  ["of algorithm None", () => headed({ alg: "None" })],
  ["of algorithm nOnE", () => `${part({ ...header, alg: "nOnE" })}.${parts()[1]}.`],
  ["of algorithm hs256", () => headed({ alg: "hs256" })],
  ["of algorithm HS384", () => headed({ alg: "HS384" }, app.keys.session, "sha384")],
  ["of algorithm HS512", () => headed({ alg: "HS512" }, app.keys.session, "sha512")],
  ["of algorithm RS256", () => rsaSigned("RS256")],
  ["of algorithm HS256 by an RSA key", () => rsaSigned("HS256")],
  ["of algorithm ES256", () => headed({ alg: "ES256" })],
  ["of algorithm EdDSA", () => headed({ alg: "EdDSA" })],
  ["of algorithm dir", () => headed({ alg: "dir", enc: "A256GCM" })],
  ["of no algorithm", () => headed({ alg: undefined })],
  ["of two algorithms", () => headed({ alg: ["HS256"] })],
  ["of no type", () => headed({ typ: undefined })],
  ["of type JWT", () => headed({ typ: "JWT" })],
  ["of type at+jwt", () => headed({ typ: "at+jwt" })],
  ["of our type in capitals", () => headed({ typ: "TIDEMARK-SESSION+JWT" })],
  ["with the key's id of a file", () => headed({ kid: "../../../../dev/null" }, Buffer.alloc(0))],
  ["with the key's id by SQL", () => headed({ kid: "x' union select 'key" }, Buffer.from("key"))],
  [
    "with its own key",
    () => headed({ jwk: { kty: "oct", k: Buffer.from("key").toString("base64url") } }, Buffer.from("key")),
  ],
  ["with a key's address", () => headed({ jku: "http://127.0.0.1:9/keys" })],
  ["with a certificate's address", () => headed({ x5u: "http://127.0.0.1:9/cert" })],
  ["with a certificate", () => headed({ x5c: ["MIIB"] })],
  ["with a critical header", () => headed({ crit: ["b64"], b64: true })],
  ["with an unencoded payload", () => headed({ crit: ["b64"], b64: false })],
  ["of compressed claims", () => headed({ zip: "DEF" })],
  ["of another key", () => signed(claims, header, randomBytes(32))],
  ["of an empty key", () => signed(claims, header, Buffer.alloc(0))],
  ["of a key of zeros", () => signed(claims, header, Buffer.alloc(32))],
  ["of the encryption key", () => signed(claims, header, Buffer.from(app.keys.encryption.primary, "base64url"))],
  [
    "of the session key's text",
    () => signed(claims, header, Buffer.from(Buffer.from(app.keys.session).toString("base64url"))),
  ],
  ["with an empty signature", () => `${parts()[0]}.${parts()[1]}.`],
  ["without a signature", () => `${parts()[0]}.${parts()[1]}`],
  ["with half a signature", () => good.slice(0, -20)],
  ["with a character behind", () => `${good}A`],
  ["with a bit behind", () => `${good.slice(0, -1)}${good.at(-1) === "B" ? "A" : "B"}`],
  ["with padding", () => `${good}=`],
  ["with a part too many", () => `${good}.${parts()[2]}`],
  ["with an empty part too many", () => `${good}.`],
  ["of five parts", () => `${good}.a.b`],
  ["with the claims of another", () => `${parts()[0]}.${part({ ...claims, sub: "root" })}.${parts()[2]}`],
  ["with a blank within", () => good.replace(".", ". ")],
  ["in ordinary base64", () => Buffer.from(good).toString("base64")],
  ["as JSON", () => part({ payload: parts()[1], protected: parts()[0], signature: parts()[2] })],
  ["of 100,000 characters", () => changed({ extra: "x".repeat(75_000) })],
  ["of dots", () => "....."],
  ["of one word", () => "admin"],
  ["that is the session's id", () => String(claims.jti)],
  ["that says undefined", () => "undefined"],
];

const asBearer = (path: string, token: string) => app.send(path, { headers: { authorization: `Bearer ${token}` } });
const asCookie = (path: string, token: string) =>
  app.send(path, { headers: { cookie: `tidemark_session=${encodeURIComponent(token)}` } });

test("the good token passes by both ways, so that the others fail for what they are", async () => {
  expect((await asBearer("/api/account", good)).status).toBe(200);
  expect((await asBearer("/api/account", signed(claims))).status).toBe(200);
  expect((await asCookie("/api/account", good)).status).toBe(200);
  expect((await asCookie("/account", good)).status).toBe(200);
});

describe("a token", () => {
  test.each(hostile)("%s is nobody's", async (_name, make) => {
    const token = make();
    const bearer = await asBearer("/api/account", token);
    expect([bearer.status, ((await bearer.json()) as { error: { code: string } }).error.code]).toEqual([
      401,
      "unauthorized",
    ]);
    expect((await asCookie("/api/account", token)).status).toBe(401);
    const page = await asCookie("/account", token);
    expect([page.status, page.headers.get("location")]).toEqual([303, "/login?next=%2Faccount"]);
    // Beside the good cookie a bad token does not fall back to it.
    const both = { authorization: `Bearer ${token}`, cookie: `tidemark_session=${good}` };
    expect((await app.send("/api/account", { headers: both })).status).toBe(401);
  });

  test.each([
    ["no scheme", () => good],
    ["another scheme", () => `Basic ${good}`],
    ["the scheme twice", () => `Bearer Bearer ${good}`],
    ["a comma", () => `Bearer ${good},Bearer ${good}`],
    ["the scheme alone", () => "Bearer"],
    ["quotes", () => `Bearer "${good}"`],
    ["a name", () => `Bearer token=${good}`],
  ])("behind %s is nobody's, also beside the good cookie", async (_name, make) => {
    const headers = { authorization: make(), cookie: `tidemark_session=${good}` };
    expect((await app.send("/api/account", { headers })).status).toBe(401);
  });

  test("in the query, a form or another header is not looked at", async () => {
    for (const path of [`/api/account?token=${good}`, `/api/account?access_token=${good}`]) {
      expect((await app.send(path)).status).toBe(401);
    }
    for (const name of ["x-api-key", "x-auth-token", "proxy-authorization", "tidemark-session"]) {
      expect((await app.send("/api/account", { headers: { [name]: good } })).status).toBe(401);
    }
  });
});

/** Every path of the API with its method; the ids are of nothing that is there. */
const everyRoute = () =>
  apiRoutes(app.services)
    .filter(({ access }) => access !== "public")
    .map(({ method, path }) => ({ method, path: `/api${path.replaceAll(/\{\w+\}/g, "none")}` }));
const statuses = async (token: string) =>
  await Promise.all(
    everyRoute().map(async ({ method, path }) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const body = method === "GET" || method === "DELETE" ? {} : { body: "{}" };
      return (await app.send(path, { method, headers, ...body })).status;
    }),
  );

describe("an ended session gets 401 from every endpoint at once", () => {
  const begun = async () => {
    const view = await app.services.auth.signIn(
      { actor: { name: null, address: "198.51.100.7", request_id: null }, user_agent: null },
      { username: "admin", password: goodPassword },
    );
    const session = await app.services.auth.authenticate(view.token, "bearer");
    if (session === null) throw new Error("the new session does not hold");
    return { token: view.token, session };
  };
  const actor = { name: "admin", address: null, request_id: null };

  test("when it was ended by another, with all others, or by itself", async () => {
    const [one, two, three] = [await begun(), await begun(), await begun()];
    expect((await asBearer("/api/account", one.token)).status).toBe(200);
    await app.services.sessions.end(actor, two.session, one.session.id);
    expect(new Set(await statuses(one.token))).toEqual(new Set([401]));
    await app.services.sessions.endOthers(actor, two.session);
    for (const token of [three.token, good]) expect(new Set(await statuses(token))).toEqual(new Set([401]));
    await app.services.auth.signOut(actor, two.session);
    expect(new Set(await statuses(two.token))).toEqual(new Set([401]));
  });

  test("and so does a revoked API token", async () => {
    const { session } = await begun();
    const input = { name: "ci", current_password: goodPassword };
    const created = await app.services.api_tokens.create(actor, session, input);
    expect((await asBearer("/api/account", created.token)).status).toBe(200);
    await app.services.api_tokens.revoke(actor, session, created.id);
    expect(new Set(await statuses(created.token))).toEqual(new Set([401]));
  });
});
