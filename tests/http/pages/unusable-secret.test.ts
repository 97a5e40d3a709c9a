import { afterAll, beforeAll, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { rootCertificates } from "node:tls";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
beforeAll(async () => {
  app = await testApp();
  person = await app.signedIn();
});
afterAll(() => app.close());

const [certificate] = rootCertificates;
const client_key = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";

/** A kubeconfig with these users, each with its context; the first is the current one. */
function kubeconfig(users: Readonly<Record<string, object>>): string {
  const names = Object.keys(users);
  return JSON.stringify({
    "current-context": names[0],
    clusters: [{ name: "home", cluster: { server: "https://home.invalid:6443" } }],
    users: Object.entries(users).map(([name, user]) => ({ name, user })),
    contexts: names.map((name) => ({ name, context: { cluster: "home", user: name } })),
  });
}

test.each([
  ["kubernetes", { kubeconfig: "not: [a kubeconfig" }, "kubeconfig", "This is not a kubeconfig"],
  ["kubernetes", { kubeconfig: "clusters: []" }, "kubeconfig", "The kubeconfig has no context"],
  ["kubernetes", { kubeconfig: kubeconfig({ a: { exec: {} } }) }, "kubeconfig", 'does not use "exec"'],
  ["kubernetes", { kubeconfig: kubeconfig({ a: {}, b: { exec: {} } }) }, "kubeconfig", "user has no token"],
  ["kubernetes", { ca_certificate: pem, token: "x" }, "ca_certificate", "paste the whole PEM text"],
  ["kubernetes", { token: "a b" }, "token", "contains spaces"],
  ["kubernetes", { client_key: pem }, "client_certificate", "needs its key"],
  ["docker", { client_certificate: pem }, "client_key", "needs its key"],
  ["docker", { client_certificate: certificate, client_key }, "client_key", "does not belong to"],
  ["podman", { ca_certificate: "mine" }, "ca_certificate", "paste the whole PEM text"],
  ["portainer", { api_key: "a b" }, "api_key", "contains spaces"],
] as const)("of %s %j no connection could use is refused at its field: %s", async (kind, secret, field, reason) => {
  const values = Object.fromEntries(Object.entries(secret).map(([name, value]) => [`secret.${name}`, value]));
  const shown = reason.replaceAll('"', "&quot;");
  for (const path of ["/credentials", "/connections"]) {
    const config = kind === "portainer" ? { "config.url": "https://p.invalid", "config.endpoint_id": "1" } : {};
    const form = path === "/credentials" ? {} : { ...config, credential_id: "new", is_enabled: "on" };
    const answer = await person.post(path, { kind, name: "x", ...form, ...values });
    expect({ path, status: answer.status }).toEqual({ path, status: 422 });
    expect(answer.text).toContain(`href="#f-secret-${field}"`);
    expect(answer.text).toContain(shown);
  }
  const made = await person.api("POST", "/credentials", { kind, name: "x", secret });
  expect(made).toMatchObject({ status: 422, body: { error: { code: "invalid_input" } } });
  expect(JSON.stringify(made.body)).toContain(`secret.${field}`);
  expect((await person.api("GET", "/credentials")).body).toMatchObject({ items: [] });
});

test("what is wrong with a secret is said together with what is wrong with the name", async () => {
  const answer = await person.post("/credentials", { kind: "portainer", name: "", "secret.api_key": "a b" });
  expect(answer.text).toContain('href="#f-name"');
  expect(answer.text).toContain('href="#f-secret-api_key"');
});

test("a kubeconfig of which one context can be used is stored, and an edit cannot spoil it", async () => {
  const secret = { kubeconfig: kubeconfig({ a: { exec: {} }, b: { token: "x" } }) };
  const { status, body } = await person.api("POST", "/credentials", { kind: "kubernetes", name: "both", secret });
  expect(status).toBe(201);
  const path = `/credentials/${body.id}`;
  const spoilt = { "secret.kubeconfig": kubeconfig({ a: { exec: {} } }) };
  const refused = await person.post(path, { name: "renamed", ...spoilt });
  expect(refused.status).toBe(422);
  expect(refused.text).toContain('href="#f-secret-kubeconfig"');
  const name = "renamed";
  expect((await person.api("PATCH", path, { name, secret: { kubeconfig: "nothing" } })).status).toBe(422);
  expect((await person.api("GET", path)).body).toMatchObject({ name: "both" });
  expect(await app.services.credentials.openSecret("kubernetes", String(body.id))).toEqual(secret);
});
