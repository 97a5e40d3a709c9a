import { describe, expect, test } from "bun:test";
import { createPublicKey } from "node:crypto";
import { type SigningAlgorithm, signingAlgorithms } from "../../src/oidc/compact-jws.ts";
import { type IdTokenExpectations, judgeIdToken } from "../../src/oidc/id-token.ts";
import { chooseKey, parseKeySet } from "../../src/oidc/keys.ts";
import { Refusal } from "../../src/oidc/refusal.ts";
import { base64url, halfHash, makeKey, signHmac, signRaw, type TestKey } from "./signing.ts";

const now = Date.UTC(2026, 0, 5, 12);
const seconds = now / 1000;
const rsa = makeKey("RS256", "rsa");
const other = makeKey("RS256", "other");
const stranger = makeKey("RS256", "rsa");
const ec = makeKey("ES256", "ec");
const ed = makeKey("EdDSA", "ed");
const small = makeKey("RS256", "small", 1024);
const encryption = makeKey("RS256", "encryption");
const named = makeKey("RS512", "named");
const leaked = makeKey("RS256", "leaked");
const twin = [makeKey("RS256", "twin"), makeKey("RS256", "twin")] as const;

const expectations: IdTokenExpectations = {
  issuer: "https://id.example",
  client_id: "tidemark",
  nonce: "nonce-1",
  now,
  algorithms: ["RS256", "RS512", "ES256", "EdDSA"],
  access_token: "access-1",
  code: "code-1",
};

const published = [
  rsa.jwk,
  other.jwk,
  ec.jwk,
  ed.jwk,
  small.jwk,
  { ...encryption.jwk, use: "enc" },
  named.jwk,
  { ...leaked.private_key.export({ format: "jwk" }), kid: "leaked" },
  ...twin.map(({ jwk }) => jwk),
  { kty: "oct", k: base64url("a shared secret of thirty-two bytes"), kid: "shared", alg: "HS256" },
  { kty: "unknown", kid: "unknown" },
  null,
  "text",
];

type Members = Record<string, unknown>;
const claims = (changes: Members = {}): Members => ({
  iss: "https://id.example",
  sub: "person-1",
  aud: "tidemark",
  exp: seconds + 300,
  iat: seconds - 5,
  nonce: "nonce-1",
  ...changes,
});
const without = (name: string): Members => Object.fromEntries(Object.entries(claims()).filter(([key]) => key !== name));
const header = (changes: Members = {}): Members => ({ alg: "RS256", kid: "rsa", typ: "JWT", ...changes });

/** A token with these claims that is right in everything else. */
const signed = (members: Members = claims(), head: Members = header(), key: TestKey = rsa, alg = key.alg) =>
  signRaw(JSON.stringify(head), JSON.stringify(members), alg, key.private_key);
const claimed = (changes: Members) => signed(claims(changes));
const headed = (changes: Members) => signed(claims(), header(changes));
const payload = (text: string | Uint8Array) => signRaw(JSON.stringify(header()), text, "RS256", rsa.private_key);
const good = signed();
const [goodHeader = "", goodPayload = "", goodSignature = ""] = good.split(".");
const publicPem = createPublicKey(rsa.private_key).export({ format: "pem", type: "spki" });

async function judge(token: string, changes: Partial<IdTokenExpectations> = {}, keys: unknown = { keys: published }) {
  return await judgeIdToken(token, { ...expectations, ...changes }, async (alg, kid, verify) =>
    verify(await chooseKey(parseKeySet(keys), alg, kid)),
  );
}

async function reasonFor(token: string, changes: Partial<IdTokenExpectations> = {}, keys?: unknown): Promise<string> {
  try {
    await judge(token, changes, keys);
    return "taken";
  } catch (error) {
    if (error instanceof Refusal) return error.reason;
    throw error;
  }
}

/** The same value in base64 with its unused last bits set: another text for the same bytes. */
function otherText(part: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const found = [...alphabet]
    .map((letter) => part.slice(0, -1) + letter)
    .find((text) => text !== part && Buffer.from(text, "base64url").equals(Buffer.from(part, "base64url")));
  if (found === undefined) throw new Error("This value has no second text");
  return found;
}

const algorithmRows: readonly [string, string, string][] = [
  ["no signature at all", `${base64url('{"alg":"none"}')}.${goodPayload}.`, "token_malformed"],
  ["alg none with a signature", headed({ alg: "none" }), "token_algorithm_refused"],
  ["alg None, in another case", headed({ alg: "None" }), "token_algorithm_refused"],
  ["alg rs256, in another case", headed({ alg: "rs256" }), "token_algorithm_refused"],
  ["alg with a blank", headed({ alg: "RS256 " }), "token_algorithm_refused"],
  ["alg missing", signed(claims(), { kid: "rsa" }), "token_header_refused"],
  ["alg a number", headed({ alg: 256 }), "token_header_refused"],
  ["alg a list", headed({ alg: ["RS256"] }), "token_header_refused"],
  ["alg null", headed({ alg: null }), "token_header_refused"],
  [
    "HS256 with the public key as its secret",
    signHmac(JSON.stringify(header({ alg: "HS256" })), JSON.stringify(claims()), publicPem),
    "token_algorithm_refused",
  ],
  [
    "HS256 with the client secret",
    signHmac(JSON.stringify(header({ alg: "HS256" })), JSON.stringify(claims()), "client-secret"),
    "token_algorithm_refused",
  ],
  [
    "HS256 with a shared key of the JWKS",
    signHmac(
      JSON.stringify(header({ alg: "HS256", kid: "shared" })),
      JSON.stringify(claims()),
      "a shared secret of thirty-two bytes",
    ),
    "token_algorithm_refused",
  ],
  [
    "HS512",
    signHmac(JSON.stringify(header({ alg: "HS512" })), JSON.stringify(claims()), "client-secret", 512),
    "token_algorithm_refused",
  ],
  ["ES256K", headed({ alg: "ES256K" }), "token_algorithm_refused"],
  ["RS1", headed({ alg: "RS1" }), "token_algorithm_refused"],
  [
    "an algorithm that the provider does not announce",
    signed(claims(), header({ alg: "RS384" }), rsa, "RS384"),
    "token_algorithm_refused",
  ],
  ["ES256 named by a token that RSA signed", headed({ alg: "ES256" }), "token_key_unknown"],
  ["EdDSA with the kid of an RSA key", signed(claims(), header({ alg: "EdDSA" }), ed), "token_key_unknown"],
  [
    "RS512 with a key that is for RS256 alone",
    signed(claims(), header({ alg: "RS512" }), rsa, "RS512"),
    "token_key_unknown",
  ],
];

const keyRows: readonly [string, string, string][] = [
  ["a key of somebody else under the same kid", signed(claims(), header(), stranger), "token_signature_wrong"],
  ["another key of the provider than the kid names", signed(claims(), header(), other), "token_signature_wrong"],
  ["a kid that is not in the JWKS", headed({ kid: "gone" }), "token_key_unknown"],
  ["a kid in another case", headed({ kid: "RSA" }), "token_key_unknown"],
  ["an empty kid", headed({ kid: "" }), "token_key_unknown"],
  ["a kid that is a path", headed({ kid: "../../dev/null" }), "token_key_unknown"],
  ["a kid that is a number", headed({ kid: 1 }), "token_header_refused"],
  ["a kid that is null", headed({ kid: null }), "token_header_refused"],
  ["a kid of 256 characters", headed({ kid: "k".repeat(256) }), "token_header_refused"],
  ["no kid where several keys fit", signed(claims(), { alg: "RS256" }), "token_key_ambiguous"],
  ["a kid that two keys have", signed(claims(), header({ kid: "twin" }), twin[0]), "token_key_ambiguous"],
  ["an RSA key of 1024 bits", signed(claims(), header({ kid: "small" }), small), "token_key_unknown"],
  ["a key for encryption", signed(claims(), header({ kid: "encryption" }), encryption), "token_key_unknown"],
  ["a key whose private part is published", signed(claims(), header({ kid: "leaked" }), leaked), "token_key_unknown"],
  [
    "a key that names another algorithm",
    signed(claims(), header({ kid: "named" }), named, "RS256"),
    "token_key_unknown",
  ],
];

const headerRows: readonly [string, string, string][] = [
  ["its own key in jwk", signed(claims(), header({ jwk: stranger.jwk }), stranger), "token_header_refused"],
  ["a jwk beside a right signature", headed({ jwk: rsa.jwk }), "token_header_refused"],
  ["jku", headed({ jku: "https://evil.example/jwks" }), "token_header_refused"],
  ["x5u", headed({ x5u: "https://evil.example/chain" }), "token_header_refused"],
  ["x5c", headed({ x5c: ["MIIB"] }), "token_header_refused"],
  ["crit with an unknown extension", headed({ crit: ["exp"], exp: seconds }), "token_header_refused"],
  ["crit without a member", headed({ crit: [] }), "token_header_refused"],
  ["b64 false, critical", headed({ b64: false, crit: ["b64"] }), "token_header_refused"],
  ["b64 false, not critical", headed({ b64: false }), "token_header_refused"],
  ["cty JWT, a nested token", headed({ cty: "JWT" }), "token_header_refused"],
  ["zip", headed({ zip: "DEF" }), "token_header_refused"],
  ["enc", headed({ enc: "A256GCM" }), "token_header_refused"],
  ["typ of an access token", headed({ typ: "at+jwt" }), "token_type_wrong"],
  ["typ of an access token as a media type", headed({ typ: "application/at+jwt" }), "token_type_wrong"],
  ["typ of a logout token", headed({ typ: "logout+jwt" }), "token_type_wrong"],
  ["typ of a DPoP proof", headed({ typ: "dpop+jwt" }), "token_type_wrong"],
  ["typ of our own session", headed({ typ: "tidemark-session+jwt" }), "token_type_wrong"],
  ["typ empty", headed({ typ: "" }), "token_type_wrong"],
  ["typ a number", headed({ typ: 1 }), "token_header_refused"],
];

const claimRows: readonly [string, string, string][] = [
  ...["iss", "sub", "aud", "exp", "iat", "nonce"].map((name): [string, string, string] => [
    `${name} missing`,
    signed(without(name)),
    "token_claims_malformed",
  ]),
  ...["iss", "sub", "aud", "exp", "iat", "nonce"].map((name): [string, string, string] => [
    `${name} null`,
    claimed({ [name]: null }),
    "token_claims_malformed",
  ]),
  ...["iss", "sub", "exp", "iat", "nonce"].map((name): [string, string, string] => [
    `${name} a list of the right value`,
    claimed({ [name]: [claims()[name]] }),
    "token_claims_malformed",
  ]),
  ["iss of another provider", claimed({ iss: "https://evil.example" }), "token_issuer_wrong"],
  ["iss with a final slash", claimed({ iss: "https://id.example/" }), "token_issuer_wrong"],
  ["iss in another case", claimed({ iss: "https://ID.example" }), "token_issuer_wrong"],
  ["iss with the usual port", claimed({ iss: "https://id.example:443" }), "token_issuer_wrong"],
  ["iss by http", claimed({ iss: "http://id.example" }), "token_issuer_wrong"],
  ["iss that begins like ours", claimed({ iss: "https://id.example.evil.example" }), "token_issuer_wrong"],
  ["iss empty", claimed({ iss: "" }), "token_issuer_wrong"],
  ["aud of another client", claimed({ aud: "other" }), "token_audience_wrong"],
  ["aud in another case", claimed({ aud: "Tidemark" }), "token_audience_wrong"],
  ["aud that begins like ours", claimed({ aud: "tidemark2" }), "token_audience_wrong"],
  ["aud that has ours within one text", claimed({ aud: "tidemark other" }), "token_audience_wrong"],
  ["aud an empty list", claimed({ aud: [] }), "token_claims_malformed"],
  ["aud a list of others", claimed({ aud: ["a", "b"] }), "token_audience_wrong"],
  ["aud a list with a number", claimed({ aud: ["tidemark", 1] }), "token_claims_malformed"],
  ["aud a list in a list", claimed({ aud: [["tidemark"]] }), "token_claims_malformed"],
  ["aud an object", claimed({ aud: { 0: "tidemark" } }), "token_claims_malformed"],
  ["several audiences without azp", claimed({ aud: ["tidemark", "other"] }), "token_audience_wrong"],
  ["several audiences with another azp", claimed({ aud: ["tidemark", "other"], azp: "other" }), "token_audience_wrong"],
  ["one audience with another azp", claimed({ azp: "other" }), "token_audience_wrong"],
  ["azp empty", claimed({ azp: "" }), "token_audience_wrong"],
  ["azp a list", claimed({ azp: ["tidemark"] }), "token_claims_malformed"],
  ["azp null", claimed({ azp: null }), "token_claims_malformed"],
  ["nonce of another attempt", claimed({ nonce: "nonce-2" }), "token_nonce_wrong"],
  ["nonce empty", claimed({ nonce: "" }), "token_nonce_wrong"],
  ["nonce with a blank", claimed({ nonce: "nonce-1 " }), "token_nonce_wrong"],
  ["sub empty", claimed({ sub: "" }), "token_subject_invalid"],
  ["sub of blanks", claimed({ sub: "   " }), "token_subject_invalid"],
  ["sub of a tab and a line break", claimed({ sub: "\t\n" }), "token_subject_invalid"],
  ["sub of a no-break space", claimed({ sub: "\u00a0" }), "token_subject_invalid"],
  ["sub of a zero-width space", claimed({ sub: "\u200b" }), "token_subject_invalid"],
  ["sub of 256 characters", claimed({ sub: "s".repeat(256) }), "token_subject_invalid"],
  ["sub with NUL", claimed({ sub: "person-1\u0000" }), "token_subject_invalid"],
  [
    "sub with half a character",
    payload(JSON.stringify(claims({ sub: "x" })).replace('"sub":"x"', '"sub":"\\ud800"')),
    "token_subject_invalid",
  ],
  ["sub a number", claimed({ sub: 1 }), "token_claims_malformed"],
  ["sub true", claimed({ sub: true }), "token_claims_malformed"],
  ["sub an object", claimed({ sub: { id: "person-1" } }), "token_claims_malformed"],
  ["payload typ of an access token", claimed({ typ: "Bearer" }), "token_type_wrong"],
  ["payload typ of a refresh token", claimed({ typ: "Refresh" }), "token_type_wrong"],
  ["token_use of an access token", claimed({ token_use: "access" }), "token_type_wrong"],
  ["events, a logout token", claimed({ events: {} }), "token_type_wrong"],
  ["at_hash of another access token", claimed({ at_hash: halfHash("access-2") }), "token_hash_wrong"],
  ["at_hash whole", claimed({ at_hash: base64url("0".repeat(32)) }), "token_hash_wrong"],
  ["at_hash by another hash", claimed({ at_hash: halfHash("access-1", 512) }), "token_hash_wrong"],
  ["at_hash empty", claimed({ at_hash: "" }), "token_hash_wrong"],
  ["at_hash a number", claimed({ at_hash: 1 }), "token_claims_malformed"],
  ["c_hash of another code", claimed({ c_hash: halfHash("code-2") }), "token_hash_wrong"],
  ["auth_time a text", claimed({ auth_time: "now" }), "token_claims_malformed"],
  ["auth_time in the future", claimed({ auth_time: seconds + 61 }), "token_issued_at_wrong"],
];

const timeRows: readonly [string, string, string][] = [
  ["exp a minute ago", claimed({ exp: seconds - 60, iat: seconds - 120 }), "token_expired"],
  ["exp years ago", claimed({ exp: 1, iat: 0 }), "token_expired"],
  ["exp at iat", claimed({ exp: seconds, iat: seconds }), "token_expired"],
  ["exp before iat", claimed({ exp: seconds + 10, iat: seconds + 20 }), "token_expired"],
  ["exp a text", claimed({ exp: String(seconds + 300) }), "token_claims_malformed"],
  ["exp true", claimed({ exp: true }), "token_claims_malformed"],
  ["exp negative", claimed({ exp: -1 }), "token_claims_malformed"],
  [
    "exp infinite",
    payload(JSON.stringify(claims({ exp: 7 })).replace('"exp":7', '"exp":1e999')),
    "token_claims_malformed",
  ],
  ["iat more than a minute ahead", claimed({ iat: seconds + 61 }), "token_issued_at_wrong"],
  ["iat more than ten minutes ago", claimed({ iat: seconds - 601 }), "token_issued_at_wrong"],
  ["iat a week ago", claimed({ iat: seconds - 604_800 }), "token_issued_at_wrong"],
  ["iat in milliseconds", claimed({ iat: now }), "token_issued_at_wrong"],
  ["iat a text", claimed({ iat: String(seconds) }), "token_claims_malformed"],
  ["nbf more than a minute ahead", claimed({ nbf: seconds + 61 }), "token_not_yet_valid"],
  ["nbf a text", claimed({ nbf: "0" }), "token_claims_malformed"],
  ["nbf null", claimed({ nbf: null }), "token_claims_malformed"],
];

const structureRows: readonly [string, string, string][] = [
  ["nothing", "", "token_malformed"],
  ["one part", goodHeader, "token_malformed"],
  ["two parts", `${goodHeader}.${goodPayload}`, "token_malformed"],
  ["no signature", `${goodHeader}.${goodPayload}.`, "token_malformed"],
  ["no payload", `${goodHeader}..${goodSignature}`, "token_malformed"],
  ["four parts", `${good}.${goodSignature}`, "token_malformed"],
  ["five parts, an encrypted token", `${good}.${goodSignature}.${goodSignature}`, "token_malformed"],
  ["a token within the token", signRaw(JSON.stringify(header()), good, "RS256", rsa.private_key), "token_malformed"],
  [
    "the JSON form",
    JSON.stringify({ payload: goodPayload, protected: goodHeader, signature: goodSignature }),
    "token_malformed",
  ],
  ["a blank before it", ` ${good}`, "token_malformed"],
  ["a line break after it", `${good}\n`, "token_malformed"],
  ["padding", `${good}==`, "token_malformed"],
  ["base64 of the other alphabet", `${goodHeader}.${goodPayload}.${goodSignature.slice(0, -2)}+/`, "token_malformed"],
  [
    "another text for the same signature",
    `${goodHeader}.${goodPayload}.${otherText(goodSignature)}`,
    "token_malformed",
  ],
  [
    "the signature of another token",
    `${goodHeader}.${goodPayload}.${claimed({ sub: "b" }).split(".")[2]}`,
    "token_signature_wrong",
  ],
  [
    "the payload of another token",
    `${goodHeader}.${base64url(JSON.stringify(claims({ sub: "b" })))}.${goodSignature}`,
    "token_signature_wrong",
  ],
  [
    "half a signature",
    `${goodHeader}.${goodPayload}.${base64url(Buffer.from(goodSignature, "base64url").subarray(0, 128))}`,
    "token_signature_wrong",
  ],
  ["a payload that is a list", payload("[]"), "token_malformed"],
  ["a payload that is a text", payload('"text"'), "token_malformed"],
  ["a payload that is null", payload("null"), "token_malformed"],
  ["a payload that is empty", `${goodHeader}..${goodSignature}`, "token_malformed"],
  ["a payload that is no JSON", payload("{iss:1}"), "token_malformed"],
  [
    "a payload that is no UTF-8",
    payload(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])),
    "token_malformed",
  ],
  ["a payload with a byte order mark", payload(`\ufeff${JSON.stringify(claims())}`), "token_malformed"],
  ["a second sub, the last one ours", payload(`{"sub":"b",${JSON.stringify(claims()).slice(1)}`), "token_malformed"],
  ["a second sub by escapes", payload(`{"\\u0073ub":"b",${JSON.stringify(claims()).slice(1)}`), "token_malformed"],
  [
    "a second name in an inner object",
    payload(JSON.stringify(claims({ x: 0 })).replace('"x":0', '"x":{"a":1,"a":2}')),
    "token_malformed",
  ],
  [
    "a second alg in the header",
    signRaw('{"alg":"none","alg":"RS256","kid":"rsa"}', JSON.stringify(claims()), "RS256", rsa.private_key),
    "token_malformed",
  ],
  [
    "nesting without end",
    payload(JSON.stringify(claims({ x: 0 })).replace('"x":0', `"x":${"[".repeat(5000)}${"]".repeat(5000)}`)),
    "token_malformed",
  ],
  ["more than 32 KiB", claimed({ picture: "p".repeat(40_000) }), "token_malformed"],
  ["claims in __proto__", payload(`{"__proto__":${JSON.stringify(claims())}}`), "token_claims_malformed"],
];

describe("judgeIdToken() refuses", () => {
  test.each([...algorithmRows, ...keyRows, ...headerRows, ...claimRows, ...timeRows, ...structureRows])(
    "%s",
    async (_, token, reason) => {
      expect(await reasonFor(token)).toBe(reason);
    },
  );

  test("at_hash where no access token came", async () => {
    expect(await reasonFor(claimed({ at_hash: halfHash("access-1") }), { access_token: null })).toBe(
      "token_hash_wrong",
    );
  });

  test("everything while the provider announces no algorithm", async () => {
    expect(await reasonFor(good, { algorithms: [] })).toBe("token_algorithm_refused");
  });

  test.each([
    ["an empty JWKS", { keys: [] }, "token_key_unknown"],
    ["no list of keys", {}, "jwks_invalid"],
    ["keys that are no list", { keys: { 0: rsa.jwk } }, "jwks_invalid"],
    ["more than 100 keys", { keys: Array.from({ length: 101 }, () => rsa.jwk) }, "jwks_invalid"],
    ["a key with use enc", { keys: [{ ...rsa.jwk, use: "enc" }] }, "token_key_unknown"],
    ["a key that may only sign", { keys: [{ ...rsa.jwk, key_ops: ["sign"] }] }, "token_key_unknown"],
    ["an EC key under the kid", { keys: [{ ...ec.jwk, kid: "rsa" }] }, "token_key_unknown"],
    [
      "a modulus that is padded with zeros",
      { keys: [{ ...small.jwk, kid: "rsa", n: padded(small) }] },
      "token_key_unknown",
    ],
    ["a modulus that is missing", { keys: [{ kty: "RSA", kid: "rsa", e: "AQAB" }] }, "token_key_unknown"],
    ["an even exponent", { keys: [{ ...rsa.jwk, e: "AA" }] }, "jwks_invalid"],
  ])("a token with %s", async (_, keys, reason) => {
    const found = await reasonFor(good, {}, keys);
    // What a key with a broken exponent does is the platform's choice: it is refused at the import or at the signature.
    expect(reason === "jwks_invalid" && found === "token_signature_wrong" ? reason : found).toBe(reason);
  });
});

function padded(key: TestKey): string {
  const bytes = Buffer.from(String(key.jwk.n), "base64url");
  return base64url(Buffer.concat([Buffer.alloc(256), bytes]));
}

describe("judgeIdToken() takes", () => {
  const identity = { issuer: "https://id.example", subject: "person-1" };
  test.each<[string, string]>([
    ["a token as it should be", good],
    ["one audience in a list", claimed({ aud: ["tidemark"] })],
    ["several audiences with our azp", claimed({ aud: ["other", "tidemark"], azp: "tidemark" })],
    ["an expiry 59 s ago", claimed({ exp: seconds - 59, iat: seconds - 300 })],
    ["an issue 60 s ahead", claimed({ iat: seconds + 60 })],
    ["an issue ten minutes ago", claimed({ iat: seconds - 600 })],
    ["a life of a day and a second", claimed({ exp: seconds - 5 + 86_401 })],
    ["a life of a year", claimed({ exp: seconds + 31_536_000 })],
    ["an expiry in milliseconds, some ten thousand years ahead", claimed({ exp: now + 300_000 })],
    ["nbf 60 s ahead", claimed({ nbf: seconds + 60 })],
    ["fractions of seconds", claimed({ exp: seconds + 300.5, iat: seconds - 0.25 })],
    ["a right at_hash and c_hash", claimed({ at_hash: halfHash("access-1"), c_hash: halfHash("code-1") })],
    ["no typ", signed(claims(), { alg: "RS256", kid: "rsa" })],
    ["typ as a media type", headed({ typ: "application/JWT" })],
    ["a payload typ of Keycloak", claimed({ typ: "ID" })],
    ["members that nobody knows", claimed({ email: "a@example", groups: ["x"], address: { locality: "y" } })],
    ["header members that nobody knows", headed({ x5t: "abc" })],
  ])("%s", async (_, token) => {
    expect(await judge(token)).toEqual(identity);
  });

  test.each([...signingAlgorithms])("a signature by %s", async (alg: SigningAlgorithm) => {
    const key = makeKey(alg, "only");
    const bits = alg === "EdDSA" ? 512 : Number(alg.slice(-3));
    const token = signed(claims({ at_hash: halfHash("access-1", bits) }), { alg }, key);
    expect(await judge(token, { algorithms: [alg] }, { keys: [key.jwk] })).toEqual(identity);
  });

  test.each(["person-1", "s".repeat(255), "人", " a", "a ", "A"])("the subject %j as it is", async (subject) => {
    expect((await judge(claimed({ sub: subject }))).subject).toBe(subject);
  });

  test("a key without alg and use", async () => {
    const { alg: _alg, use: _use, ...bare } = rsa.jwk;
    expect(await judge(good, {}, { keys: [bare] })).toEqual(identity);
  });
});
