import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { connections, credentials, executors } from "../../../src/db/tables.ts";
import { asSealed } from "../../../src/secrets/sealed.ts";
import { type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
beforeAll(async () => {
  app = await testApp();
  person = await app.signedIn();
  const channels = [{ name: "stable", type: "stable" }];
  const source = { key: "main", kind: "oci", config: { image: "registry.test/app" }, channels };
  await add("/trackers", { name: "app", sources: [source] });
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.db.write(async (tx) => {
    await tx.delete(executors);
    await tx.delete(connections);
    await tx.delete(credentials);
  });
});

async function add(path: string, input: object): Promise<string> {
  const { status, body } = await person.api("POST", path, input);
  expect({ status, body }).toMatchObject({ status: 201 });
  return String(body.id);
}

const kinds = {
  docker: {
    target: "container",
    config: { address: "/nowhere/docker.sock" },
    secret: { username: "me", password: "x" },
  },
  podman: {
    target: "container",
    config: { address: "/nowhere/podman.sock" },
    secret: { username: "me", password: "x" },
  },
  kubernetes: { target: "deployment", config: { server: "https://nas.test:6443" }, secret: { token: "x" } },
  portainer: { target: "stack", config: { url: "https://nas.test:9443", endpoint_id: 1 }, secret: { api_key: "x" } },
} as const;

/** A connection of the kind with an executor. */
async function addConnection(kind: keyof typeof kinds) {
  const { target, config, secret } = kinds[kind];
  const credential_id = await add("/credentials", { name: "ci", kind, secret });
  const id = await add("/runtime-connections", { name: "nas", kind, config, credential_id });
  const executor = await add("/executors", {
    ...{ name: "web", connection_id: id, trigger: "manual" },
    target: { kind: target, id: kind === "kubernetes" ? "default/web" : "web" },
    bindings: [{ service: "web", tracker: "app", source: "main", channel: "stable" }],
  });
  return { id, executor, credential_id };
}

async function store(id: string, config: Record<string, unknown>): Promise<void> {
  await app.db.write((tx) => tx.update(connections).set({ config }).where(eq(connections.id, id)));
}
const stored = async (id: string) => {
  const [row] = await app.db.read.select().from(connections).where(eq(connections.id, id));
  return row?.config;
};

/** Every page and call that asks the runtime gives this reason. */
async function expectReason({ id, executor }: { id: string; executor: string }, reason: string): Promise<void> {
  const check = await person.api("POST", `/runtime-connections/${id}/checks`);
  expect(check).toMatchObject({ status: 201, body: { ok: false, message: reason } });
  for (const path of [`/runtime-connections/${id}/targets`, `/executors/${executor}/plan`]) {
    const { status, body } = await person.api("GET", path);
    expect({ path, status, body }).toMatchObject({ path, status: 424, body: { error: { message: reason } } });
  }
  const shown = reason.replaceAll('"', "&quot;").replaceAll("'", "&#39;");
  for (const path of [
    `/connections/${id}`,
    `/connections/${id}/targets`,
    `/connections/${id}/images`,
    `/connections/${id}/adopt`,
    `/executors/${executor}/plan`,
    `/executors/${executor}/run`,
    `/executors/${executor}/edit`,
    `/executors/new?connection=${id}`,
  ]) {
    const { status, text } = await person.get(path);
    expect({ path, status, told: text.includes(shown) ? shown : text }).toEqual({ path, status: 200, told: shown });
  }
}

test.each([
  ["docker", { address: "http://nas:2375" }, "address", "enter the address as unix:///"],
  ["docker", { address: 5 }, "address", "enter text"],
  ["podman", { address: "nas" }, "address", "enter the address as unix:///"],
  ["docker", { socket: "/nowhere/docker.sock" }, "socket", "there is no such field"],
  ["kubernetes", { server: "https://" }, "server", "enter the address of the API server as https://host:port"],
  ["portainer", { url: "nas", endpoint_id: 1 }, "url", "enter the address of Portainer as https://host:port"],
] as const)(
  "a stored address of %s that fits no field (%j) is told wherever it is needed",
  async (kind, config, field, cause) => {
    const made = await addConnection(kind);
    await store(made.id, config);
    const { body } = await person.api("POST", `/runtime-connections/${made.id}/checks`);
    const reason = String(body.message);
    expect(reason).toStartWith(`The connection's setting "${field}" cannot be used: ${cause}`);
    expect(reason).toEndWith(". Edit the connection to correct it");
    await expectReason(made, reason);
    expect(await stored(made.id)).toEqual(config);
  },
);

test("such a connection can be renamed and disabled, is mended in its form, and keeps what another version stored", async () => {
  const { id } = await addConnection("docker");
  const old = { socket: "/nowhere/old.sock", via: ["a"], tls_verification: true };
  await store(id, old);
  const renamed = await person.api("PATCH", `/runtime-connections/${id}`, { name: "shed", is_enabled: false });
  expect(renamed.status).toBe(200);
  expect(await stored(id)).toEqual(old);
  const form = {
    name: "shed",
    is_enabled: "on",
    "config.address": "tcp://nas.invalid:2375",
  };
  expect((await person.post(`/connections/${id}`, form)).status).toBe(303);
  const { socket, via } = old;
  const mended = { address: "tcp://nas.invalid:2375", api_version: "", tls_verification: false, registry: "" };
  expect(await stored(id)).toEqual({ socket, via, ...mended });
  const { body } = await person.api("POST", `/runtime-connections/${id}/checks`);
  expect(body.message).not.toContain("cannot be used");
  const warned = (await person.api("GET", `/runtime-connections/${id}`)).body;
  expect(warned).toMatchObject({ warnings: [{ code: "tls_not_verified" }, { code: "plain_tcp" }] });
  // Nobody can enter them, and whoever knows them can remove one.
  const path = `/runtime-connections/${id}`;
  expect((await person.api("PATCH", path, { config: { socket: "/other" } })).status).toBe(422);
  expect((await person.api("PATCH", path, { config: { socket: null } })).status).toBe(200);
  expect(await stored(id)).toEqual({ via, ...mended });
});

test("it keeps nobody from another connection to the same cluster", async () => {
  const { id, credential_id } = await addConnection("kubernetes");
  const config = { ...kinds.kubernetes.config, namespaces: "shop" };
  expect((await person.api("PATCH", `/runtime-connections/${id}`, { config: { namespaces: "tools" } })).status).toBe(
    200,
  );
  const other = await add("/runtime-connections", { name: "other", kind: "kubernetes", credential_id, config });
  await store(id, { server: "https://" });
  for (const path of ["/connections", `/connections/${other}`]) expect((await person.get(path)).status).toBe(200);
});

test.each(["docker", "kubernetes", "portainer"] as const)(
  "a stored secret of %s that cannot be read is told the same way, and can be entered again",
  async (kind) => {
    const made = await addConnection(kind);
    const [row] = await app.db.read.select().from(credentials).where(eq(credentials.id, made.credential_id));
    const text = row?.sealed_secret ?? "";
    const damaged = asSealed(`${text.slice(0, 60)}AAAA${text.slice(64)}`);
    const set = (sealed_secret: typeof damaged) =>
      app.db.write((tx) => tx.update(credentials).set({ sealed_secret }).where(eq(credentials.id, made.credential_id)));
    await set(damaged);
    await expectReason(
      made,
      'The credential "ci" cannot be used: a stored secret cannot be decrypted; it is damaged or belongs to another key. Enter it again under Credentials',
    );
    for (const path of ["/credentials", `/credentials/${made.credential_id}/edit`, `/connections/${made.id}/edit`])
      expect({ path, status: (await person.get(path)).status }).toEqual({ path, status: 200 });
    const secret = kinds[kind].secret;
    const path = `/credentials/${made.credential_id}`;
    // Whoever only names it anew leaves the secret as it is: the key that it belongs to may come back.
    expect((await person.api("PATCH", path, { description: "mine" })).body).toMatchObject({ secret_fields: [] });
    const [kept] = await app.db.read.select().from(credentials).where(eq(credentials.id, made.credential_id));
    expect(kept?.sealed_secret).toBe(damaged);
    expect((await person.api("PATCH", path, { secret })).body).toMatchObject({ secret_fields: Object.keys(secret) });
    const { body } = await person.api("POST", `/runtime-connections/${made.id}/checks`);
    expect(body.message).not.toContain("cannot be used");
  },
);
