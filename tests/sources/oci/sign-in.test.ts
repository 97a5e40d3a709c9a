import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { say } from "../../../src/messages/message.ts";
import { accessCache } from "../../../src/sources/oci/access-cache.ts";
import { ociSource } from "../../../src/sources/oci/oci.ts";
import { realmObjection } from "../../../src/sources/oci/token.ts";
import type { OpenSource } from "../../../src/sources/source.ts";
import {
  addImage,
  emptyContent,
  json,
  listRequest,
  type StandIn,
  serve,
  standIn,
  testContext,
} from "./stand-in-registry.ts";

const secret = { username: "ci", password: "pässword:with colon" };
const basic = `Basic ${Buffer.from(`${secret.username}:${secret.password}`, "utf8").toString("base64")}`;

let tokens: StandIn;
let registry: StandIn;
/** The token that the registry takes now; it is issued by the token server. */
let valid: string;
let challenge: readonly string[];
let issue: (url: URL, authorization: string | null) => Response;
let now: number;
let cache: ReturnType<typeof accessCache>;

beforeEach(() => {
  valid = "token-1";
  now = 1_795_219_200_000;
  cache = accessCache();
  issue = () => json({ token: valid, expires_in: 300 });
  tokens = standIn((request, url) => issue(url, request.headers.get("authorization")));
  const content = emptyContent();
  addImage(content, "1.0.0", {});
  registry = standIn((request, url) => {
    const shown = request.headers.get("authorization");
    const isIn = shown === `Bearer ${valid}` || (shown === basic && challenge.some((one) => /basic/i.test(one)));
    if (challenge.length === 0 || isIn) return serve(content, "acme/app", request, url);
    const headers = new Headers();
    for (const one of challenge) headers.append("www-authenticate", one);
    return json({ errors: [{ code: "UNAUTHORIZED", message: "authentication required" }] }, { status: 401, headers });
  });
  challenge = [`Bearer realm="${tokens.url}/token?kept=1",service="reg",scope="repository:acme/app:pull"`];
});
afterEach(async () => {
  await registry.stop();
  await tokens.stop();
});

function open(who: unknown = secret): OpenSource {
  const config = { image: "acme/app", registry: registry.url };
  return ociSource(cache).open(
    config,
    who,
    testContext(() => now),
  );
}

async function failureOf(work: Promise<unknown> | undefined): Promise<{ code: string; message: string }> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error && "code" in error) return { code: String(error.code), message: error.message };
    throw error;
  }
  throw new Error("Nothing was thrown");
}

describe("sign-in with a token", () => {
  test("asks the realm as the registry names it, with the credential, and the registry only with the token", async () => {
    expect(await open().listNames?.()).toEqual(["1.0.0"]);
    expect(tokens.seen.map(({ line, authorization }) => [line, authorization])).toEqual([
      ["GET /token?kept=1&service=reg&scope=repository%3Aacme%2Fapp%3Apull", basic],
    ]);
    expect(registry.seen.map(({ authorization }) => authorization)).toEqual([null, "Bearer token-1"]);
  });

  test("asks without a credential when there is none", async () => {
    await open(null).listNames?.();
    expect(tokens.seen.map((request) => request.authorization)).toEqual([null]);
  });

  test("keeps the token for later sessions of the same repository and credential, and only for those", async () => {
    await open().listNames?.();
    registry.take();
    await open().listNames?.();
    expect(registry.take()).toHaveLength(1);
    expect(tokens.take()).toHaveLength(1);
    await open(null).listNames?.();
    await open({ ...secret, password: "another" }).listNames?.();
    expect(tokens.seen.map((request) => request.authorization === basic)).toEqual([false, false]);
  });

  test("renews a token that has run out without asking the registry in vain", async () => {
    await open().listNames?.();
    registry.take();
    now += 296_000;
    await open().listNames?.();
    expect(registry.take()).toHaveLength(1);
    expect(tokens.take()).toHaveLength(2);
  });

  test("renews a revoked token once", async () => {
    const source = open();
    await source.listNames?.();
    registry.take();
    valid = "token-2";
    expect(await source.listNames?.()).toEqual(["1.0.0"]);
    expect(registry.take()).toHaveLength(2);
    expect(tokens.take()).toHaveLength(2);
  });

  test("gives up after one renewal", async () => {
    issue = () => json({ token: "never-valid" });
    const failure = await failureOf(open().listNames?.());
    expect(failure.code).toBe("unauthorized");
    expect(failure.message).toContain("authentication required");
    expect(registry.take()).toHaveLength(2);
    expect(tokens.take()).toHaveLength(1);
  });

  test("serves lookups side by side with one token", async () => {
    const source = open();
    await source.listReleases(listRequest());
    now += 600_000;
    tokens.take();
    await Promise.all([source.listNames?.(), source.listNames?.(), source.listNames?.()]);
    expect(tokens.take()).toHaveLength(1);
  });

  test("learns anew from the registry after the realm has moved", async () => {
    await open().listNames?.();
    now += 600_000;
    issue = () => new Response("gone", { status: 410 });
    expect((await failureOf(open().listNames?.())).code).toBe("rejected");
    issue = () => json({ token: valid });
    challenge = [`Bearer realm="${tokens.url}/new",service="reg"`];
    tokens.take();
    expect(await open().listNames?.()).toEqual(["1.0.0"]);
    expect(tokens.take()).toEqual(["GET /new?service=reg&scope=repository%3Aacme%2Fapp%3Apull"]);
  });

  test.each([
    ["access_token", () => json({ access_token: "token-1" })],
    ["a blank token beside access_token", () => json({ token: "", access_token: "token-1", expires_in: null })],
  ])("takes %s", async (_, answer) => {
    issue = answer;
    expect(await open().listNames?.()).toEqual(["1.0.0"]);
  });

  test.each([
    ["no token", () => json({}), "malformed"],
    ["a token that splits headers", () => json({ token: "a\r\nx-evil: 1" }), "malformed"],
    ["a token of 1 MB", () => json({ token: "a".repeat(1_000_000) }), "malformed"],
    ["a web page", () => new Response("<html>", { headers: { "content-type": "text/html" } }), "malformed"],
    ["a refusal", () => json({ details: "incorrect username or password" }, { status: 401 }), "unauthorized"],
    ["a limit", () => json({}, { status: 429, headers: { "retry-after": "7" } }), "rate_limited"],
  ])("reports %s of the token server", async (_, answer, code) => {
    issue = answer;
    const failure = await failureOf(open().listNames?.());
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(`get a token for "${registry.host}/acme/app" from "${tokens.host}"`);
    expect(failure.message).not.toContain(secret.password);
  });

  test.each([
    ["names none", `service="reg"`],
    ["names one without a repository", `scope="repository::pull"`],
  ])("asks to pull the repository when the challenge %s", async (_, parameters) => {
    challenge = [`Bearer realm="${tokens.url}/token",${parameters}`];
    await open().listNames?.();
    expect(new URL(tokens.seen[0]?.line.slice(4) ?? "", tokens.url).searchParams.getAll("scope")).toEqual([
      "repository:acme/app:pull",
    ]);
  });

  test("keeps the scope that the registry names, each as a parameter of its own", async () => {
    challenge = [`Bearer realm="${tokens.url}/token",scope="repository:acme/app:pull registry:catalog:*"`];
    await open().listNames?.();
    expect(new URL(tokens.seen[0]?.line.slice(4) ?? "", tokens.url).searchParams.getAll("scope")).toEqual([
      "repository:acme/app:pull",
      "registry:catalog:*",
    ]);
  });
});

describe("sign-in with Basic", () => {
  beforeEach(() => {
    challenge = ['Basic realm="reg"'];
  });

  test("shows the credential after the first refusal, and at once from then on", async () => {
    await open().listNames?.();
    expect(registry.take()).toHaveLength(2);
    await open().listNames?.();
    expect(registry.seen.map((request) => request.authorization)).toEqual([basic]);
    expect(tokens.seen).toEqual([]);
  });

  test("says that a credential is missing", async () => {
    const failure = await failureOf(open(null).listNames?.());
    expect(failure).toMatchObject({
      code: "unauthorized",
      message: expect.stringContaining("the source has no credential"),
    });
  });

  test("shows a wrong password once", async () => {
    const failure = await failureOf(open({ ...secret, password: "wrong" }).listNames?.());
    expect(failure.code).toBe("unauthorized");
    expect(registry.take()).toHaveLength(2);
    await failureOf(open({ ...secret, password: "wrong" }).listNames?.());
    expect(registry.take()).toHaveLength(1);
  });
});

describe("several challenges", () => {
  test.each([
    ["in two headers", () => [`Bearer realm="${tokens.url}/t"`, 'Basic realm="r"'], 1],
    ["in one header", () => [`Basic realm="r", Bearer realm="${tokens.url}/t"`], 1],
    ["with one that nobody knows", () => ['Negotiate, Basic realm="r"'], 0],
    [
      "with a realm that may not see the credential",
      () => ['Bearer realm="http://198.51.100.7/t"', 'Basic realm="r"'],
      0,
    ],
  ])("%s are answered by the best one", async (_, challenges, tokenRequests) => {
    challenge = challenges();
    expect(await open().listNames?.()).toEqual(["1.0.0"]);
    expect(tokens.take()).toHaveLength(tokenRequests);
  });

  test("without any, the refusal says so", async () => {
    challenge = [" "];
    const failure = await failureOf(open().listNames?.());
    expect(failure).toMatchObject({
      code: "unauthorized",
      message: expect.stringContaining("without sign-in instructions"),
    });
  });

  test("of unknown kinds are named", async () => {
    challenge = ["Negotiate", "NTLM"];
    expect((await failureOf(open().listNames?.())).message).toContain('"negotiate, ntlm"');
  });
});

describe("a credential", () => {
  test("and its tokens are kept out of the store of conditional answers", async () => {
    const kept = new Map<string, RequestInit["cache"]>();
    const inner = testContext(() => now);
    const context = {
      ...inner,
      fetch(url: URL, init?: RequestInit) {
        kept.set(url.pathname.replace(/sha256:.*/, "DIGEST"), init?.cache);
        return inner.fetch(url, init);
      },
    };
    await ociSource(cache)
      .open({ image: "acme/app", registry: registry.url }, secret, context)
      .listReleases(listRequest());
    expect(Object.fromEntries(kept)).toEqual({
      "/token": "no-store",
      "/v2/acme/app/tags/list": "default",
      "/v2/acme/app/manifests/1.0.0": "no-store",
      "/v2/acme/app/blobs/DIGEST": "no-store",
    });
  });

  test("is not sent to a realm over plain http on another host", async () => {
    challenge = ['Bearer realm="http://198.51.100.7/token"'];
    const failure = await failureOf(open().listNames?.());
    expect(failure.code).toBe("unauthorized");
    expect(failure.message).toContain("the credential is not sent there");
  });

  test("does not follow a redirect to another origin", async () => {
    challenge = ['Basic realm="reg"'];
    const other = standIn(() => json({ name: "acme/app", tags: ["9.9.9"] }));
    const front = standIn((request) =>
      request.headers.get("authorization") === basic
        ? new Response(null, { status: 307, headers: { location: `${other.url}/elsewhere` } })
        : new Response(null, { status: 401, headers: { "www-authenticate": "Basic" } }),
    );
    const source = ociSource(cache).open({ image: "acme/app", registry: front.url }, secret, testContext());
    expect(await source.listNames?.()).toEqual(["9.9.9"]);
    expect(other.seen.map((request) => request.authorization)).toEqual([null]);
    await other.stop();
    await front.stop();
  });

  test.each([
    ["https://auth.example/t", "https://reg.example", null],
    ["https://auth.example/t", "http://reg.lan:5000", null],
    ["http://reg.lan:5001/t", "http://reg.lan:5000", null],
    ["http://localhost:5001/t", "http://127.0.0.1:5000", null],
    ["http://127.0.0.1:5001/t", "http://[::1]:5000", null],
    ["http://auth.lan/t", "http://reg.lan:5000", say("sources.realm_on_another_host")],
    ["http://127.0.0.1.evil.example/t", "http://127.0.0.1:5000", say("sources.realm_on_another_host")],
    ["http://reg.example/t", "https://reg.example", say("sources.realm_plain")],
    ["ftp://reg.example/t", "https://reg.example", say("sources.realm_scheme", { scheme: "ftp:" })],
    ["https://user@auth.example/t", "https://reg.example", say("sources.realm_with_user")],
  ])("for realm %p of registry %p", (realm, origin, objection) => {
    expect(realmObjection(new URL(realm), new URL(origin))).toEqual(objection);
  });

  test.each([["text"], [{ username: "ci" }], [{ token: "x" }]])("of another form is refused: %p", (who) => {
    expect(() => open(who)).toThrow('The credential has no "username" and "password"');
  });
});

describe("accessCache()", () => {
  test("forgets the least recently used repository beyond its limit", () => {
    const small = accessCache(2);
    const at = (name: string) => ({ registry: "r", name, origin: "https://r" });
    const access = { method: { kind: "basic" }, token: null } as const;
    small.store(at("a"), null, access);
    small.store(at("b"), null, access);
    small.find(at("a"), null);
    small.store(at("c"), null, access);
    expect(["a", "b", "c"].map((name) => small.find(at(name), null) !== null)).toEqual([true, false, true]);
  });
});
