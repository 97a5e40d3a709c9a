import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { goodPassword, testApp } from "../support/test-app.ts";
import { baseUrl, clientSecret } from "./flow.ts";

type House = Awaited<ReturnType<typeof open>>;

/** The application as it is run: addresses must be https. */
async function open() {
  const app = await testApp({ env: { BASE_URL: baseUrl } });
  return { app, ...(await app.signedIn()) };
}

let house: House;
beforeEach(async () => {
  house = await open();
});
afterEach(() => house.app.close());

const path = "/oidc-providers";
const refusedFields = (body: unknown) => Object.keys((body as { error: { fields: object } }).error.fields);
const input = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  display_name: "Home",
  slug: "home-1",
  client_id: "tidemark",
  client_secret: clientSecret,
  issuer_url: "https://id.lan:8443/realms/home",
  ...changes,
});
const manual = {
  is_discovery_enabled: false,
  authorization_url: "https://id.lan/authorize?policy=a",
  token_url: "https://id.lan/token",
  jwks_url: "https://id.lan/jwks",
};

describe("the provider", () => {
  test("has defaults, its callback URL, and shows no secret", async () => {
    const created = await house.api("POST", path, input());
    expect(created.status).toBe(201);
    expect(created.body as unknown).toEqual({
      id: expect.any(String),
      slug: "home-1",
      display_name: "Home",
      client_id: "tidemark",
      has_client_secret: true,
      problem: null,
      is_discovery_enabled: true,
      issuer_url: "https://id.lan:8443/realms/home",
      authorization_url: null,
      token_url: null,
      jwks_url: null,
      userinfo_url: null,
      scopes: "openid email profile",
      icon_url: null,
      description: "",
      is_enabled: true,
      is_bound: false,
      callback_url: `${baseUrl}/auth/oidc/home-1/callback`,
      created_at: "2026-01-05T12:00:00.000Z",
      updated_at: "2026-01-05T12:00:00.000Z",
    });
    const rows = await house.app.db.client.execute("SELECT * FROM oidc_providers");
    expect(JSON.stringify(rows.rows)).not.toContain(clientSecret);
    const list = await house.api("GET", path);
    expect(list.body as unknown).toEqual({ items: [created.body], next_cursor: null });
    expect(await house.api("GET", `${path}/${created.body.id}`)).toMatchObject({ status: 200, body: created.body });
  });

  test("is the only one", async () => {
    await house.api("POST", path, input());
    const second = await house.api("POST", path, input({ slug: "other" }));
    expect([second.status, second.body.error]).toMatchObject([409, { code: "conflict" }]);
    const at_once = await Promise.all([1, 2, 3].map((n) => house.api("POST", path, input({ slug: `other-${n}` }))));
    expect(at_once.map(({ status }) => status)).toEqual([409, 409, 409]);
  });

  const refused: readonly [string, Record<string, unknown>, string][] = [
    ...["Home", "ho me", "", "-home", "home-", "hö", "home/", "..", "a".repeat(65), 1, null].map(
      (slug): [string, Record<string, unknown>, string] => [`slug ${JSON.stringify(slug)}`, { slug }, "slug"],
    ),
    ...[
      "http://id.lan",
      "http://127.0.0.1:9000",
      "id.lan",
      "https://",
      "https://a:b@id.lan",
      "https://id.lan/#x",
      "https://id.lan/?x",
      "https:/id.lan",
      "https://id.lan\\@evil.example",
      " https://id.lan",
      "https://id.lan\n",
      "ftp://id.lan",
      "javascript:alert(1)",
      "https://169.254.169.254",
      "https://[fd00:ec2::254]",
      "",
      null,
    ].map((issuer_url): [string, Record<string, unknown>, string] => [
      `issuer ${JSON.stringify(issuer_url)}`,
      { issuer_url },
      "issuer_url",
    ]),
    ...["authorization_url", "token_url", "jwks_url"].flatMap((name): [string, Record<string, unknown>, string][] => [
      [`no ${name} without discovery`, { ...manual, [name]: null }, name],
      [`${name} by http`, { ...manual, [name]: "http://id.lan/x" }, name],
      [`${name} at a metadata address`, { ...manual, [name]: "https://169.254.169.254/x" }, name],
      [`${name} with a fragment`, { ...manual, [name]: "https://id.lan/x#y" }, name],
    ]),
    ["userinfo by http", { ...manual, userinfo_url: "http://id.lan/x" }, "userinfo_url"],
    ["scopes without openid", { scopes: "email profile" }, "scopes"],
    ["scopes with a part of openid", { scopes: "openid2 email" }, "scopes"],
    ["no scopes", { scopes: "" }, "scopes"],
    ["scopes with a quote", { scopes: 'openid "x"' }, "scopes"],
    ["an icon by http", { icon_url: "http://id.lan/icon.png" }, "icon_url"],
    ["an icon that is a script", { icon_url: "javascript:alert(1)" }, "icon_url"],
    ["an icon that is data", { icon_url: "data:image/png;base64,AA" }, "icon_url"],
    ["no display name", { display_name: " " }, "display_name"],
    ["no client ID", { client_id: "" }, "client_id"],
    ["a client ID with a line break", { client_id: "a\nb" }, "client_id"],
    ["no client secret", { client_secret: "" }, "client_secret"],
    ["a client secret left out", { client_secret: undefined }, "client_secret"],
    ["a client secret with a line break", { client_secret: "a\r\nb" }, "client_secret"],
    ["a text for a switch", { is_enabled: "true" }, "is_enabled"],
    ["a field that nobody knows", { skip_signature: true }, "skip_signature"],
  ];
  test.each(refused)("is refused with %s", async (_, changes, field) => {
    const answer = await house.api("POST", path, input(changes));
    expect(answer.status).toBe(422);
    expect(refusedFields(answer.body)).toContain(field);
    expect((await house.api("GET", path)).body as unknown).toEqual({ items: [], next_cursor: null });
  });

  test("is refused with everything that is wrong at once", async () => {
    const wrong = { client_id: "", issuer_url: "http://id.lan" };
    const manually = { ...wrong, is_discovery_enabled: false, token_url: "http://id.lan/token" };
    const created = await house.api("POST", path, input(manually));
    const fields = ["authorization_url", "client_id", "issuer_url", "jwks_url", "token_url"];
    expect(refusedFields(created.body).toSorted()).toEqual(fields);
    const { body } = await house.api("POST", path, input(manual));
    // Its stored endpoints are not missing.
    const changed = await house.api("PATCH", `${path}/${body.id}`, { ...wrong, is_discovery_enabled: false });
    expect(refusedFields(changed.body).toSorted()).toEqual(["client_id", "issuer_url"]);
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["addresses of a private network", { issuer_url: "https://192.168.1.9" }, { issuer_url: "https://192.168.1.9" }],
    ["a final slash of the issuer as it is", { issuer_url: "https://id.lan/" }, { issuer_url: "https://id.lan/" }],
    ["endpoints by hand", manual, { ...manual, userinfo_url: null }],
    ["no endpoints with discovery", { ...manual, is_discovery_enabled: true }, { token_url: null, jwks_url: null }],
    ["scopes once each", { scopes: " openid  groups openid " }, { scopes: "openid groups" }],
  ])("keeps %s", async (_, changes, expected) => {
    const answer = await house.api("POST", path, input(changes));
    expect([answer.status, answer.body]).toMatchObject([201, expected]);
  });

  test("keeps its secret where the form leaves it blank, and takes a new one", async () => {
    const { body } = await house.api("POST", path, input());
    const stored = async () => {
      const { rows } = await house.app.db.client.execute("SELECT sealed_client_secret AS s FROM oidc_providers");
      const { asSealed } = await import("../../src/secrets/sealed.ts");
      return house.app.sealer.open(asSealed(String(rows[0]?.s)));
    };
    const one = `${path}/${body.id}`;
    expect((await house.api("PATCH", one, { client_secret: "", description: "x" })).status).toBe(200);
    expect(await stored()).toBe(clientSecret);
    expect((await house.api("PATCH", one, { description: "y" })).body.description as unknown).toBe("y");
    expect(await stored()).toBe(clientSecret);
    await house.api("PATCH", one, { client_secret: "another secret" });
    expect(await stored()).toBe("another secret");
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["its slug", { slug: "other" }, "slug"],
    ["discovery off without endpoints", { is_discovery_enabled: false }, "token_url"],
    ["scopes without openid", { scopes: "email" }, "scopes"],
    ["an issuer by http", { issuer_url: "http://id.lan" }, "issuer_url"],
  ])("does not change %s", async (_, patch, field) => {
    const { body } = await house.api("POST", path, input());
    const answer = await house.api("PATCH", `${path}/${body.id}`, patch);
    expect(answer.status).toBe(422);
    expect(refusedFields(answer.body)).toContain(field);
  });

  /** A provider that holds the binding; its path. */
  const boundProvider = async (changes: Record<string, unknown> = {}): Promise<string> => {
    const { body } = await house.api("POST", path, input(changes));
    await house.app.db.client.execute(
      "INSERT INTO oidc_bindings SELECT 1, p.id, a.id, p.issuer_url, 's', 0 FROM oidc_providers p, administrators a",
    );
    return `${path}/${body.id}`;
  };
  const boundChanges: readonly Record<string, unknown>[] = [
    { description: "x" },
    { display_name: "Other" },
    { client_id: "other" },
    { client_secret: "other" },
    { client_secret: clientSecret },
    { issuer_url: "https://id.lan:8443/realms/home/" },
    { scopes: "openid" },
    { icon_url: "https://id.lan/icon.png" },
    { userinfo_url: "https://id.lan/userinfo" },
    manual,
  ];
  test.each(boundChanges.flatMap((patch) => [patch, { ...patch, is_enabled: false }]))(
    "does not change while it is bound: %j",
    async (patch) => {
      const one = await boundProvider();
      const before = (await house.api("GET", one)).body;
      const answer = await house.api("PATCH", one, patch);
      expect([answer.status, answer.body.error]).toMatchObject([409, { code: "bound" }]);
      expect((await house.api("GET", one)).body).toEqual(before);
    },
  );

  test.each<[string, Record<string, unknown>]>([
    ["alone", {}],
    [
      "with its other values as they are",
      { ...input({ slug: undefined }), client_secret: "", scopes: "openid  email profile" },
    ],
  ])("is switched off and on while it is bound, %s", async (_, rest) => {
    const one = await boundProvider();
    for (const is_enabled of [false, true]) {
      const answer = await house.api("PATCH", one, { ...rest, is_enabled });
      expect([answer.status, answer.body]).toMatchObject([200, { is_enabled, is_bound: true, description: "" }]);
      const { items } = await house.app.services.audit_entries.list({ limit: 1 });
      expect(items[0]).toMatchObject({ event: "oidc_provider_updated", detail: { fields: ["is_enabled"] } });
    }
    expect((await house.api("GET", `${path}/admin-binding`)).body.is_bound as unknown).toBe(true);
  });

  test("can be switched off while it is bound although its address would be refused today", async () => {
    const one = await boundProvider();
    await house.app.db.client.execute("UPDATE oidc_providers SET issuer_url = 'http://127.0.0.1:9000'");
    expect((await house.api("PATCH", one, { is_enabled: false })).status).toBe(200);
  });

  test("is not deleted while it is bound", async () => {
    const one = await boundProvider();
    const deleted = await house.api("DELETE", one);
    expect([deleted.status, deleted.body.error]).toMatchObject([409, { code: "bound" }]);
    expect((await house.api("GET", one)).body.is_bound as unknown).toBe(true);
    await house.api("POST", `${path}/admin-binding/unbind`, { current_password: goodPassword });
    expect((await house.api("DELETE", one)).status).toBe(204);
    expect((await house.api("GET", one)).status).toBe(404);
  });

  test("leaves an audit entry for each change", async () => {
    const { body } = await house.api("POST", path, input());
    await house.api("PATCH", `${path}/${body.id}`, { description: "x", client_secret: "new secret" });
    await house.api("DELETE", `${path}/${body.id}`);
    const { items } = await house.app.services.audit_entries.list({ limit: 3 });
    expect(items.map(({ event }) => event).toReversed()).toEqual([
      "oidc_provider_created",
      "oidc_provider_updated",
      "oidc_provider_deleted",
    ]);
    expect(items[1]?.detail).toEqual({ fields: ["description", "client_secret"] });
    expect(JSON.stringify(items)).not.toContain("secret ");
  });

  test.each([
    ["GET", path],
    ["POST", path],
    ["GET", `${path}/x`],
    ["PATCH", `${path}/x`],
    ["DELETE", `${path}/x`],
    ["GET", `${path}/admin-binding`],
    ["POST", `${path}/x/admin-binding/authorize`],
    ["POST", `${path}/admin-binding/unbind`],
  ])("%s %s wants a session", async (method, each) => {
    expect((await house.app.send(`/api${each}`, { method })).status).toBe(401);
  });
});
