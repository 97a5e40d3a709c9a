import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { auditRecorder } from "../../src/auth/audit.ts";
import { credentialKinds, credentialStates } from "../../src/credentials/schema.ts";
import { credentialService } from "../../src/credentials/service.ts";
import { connections } from "../../src/db/tables.ts";
import { plain, told } from "../../src/messages/message.ts";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { createSealer } from "../../src/secrets/sealed.ts";
import { installation } from "../stats/installation.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { type TemporaryDatabase, temporaryDatabase } from "../support/temporary-database.ts";

const actor = { name: "admin", address: null, request_id: null };
const canary = "canary-5f1d0c";
const pem = `-----BEGIN CERTIFICATE-----\n${canary}\n-----END CERTIFICATE-----`;

/** A test of a connection that failed. */
const testedAs = (code: string) => ({
  ...{ ok: false, code, ...told(plain("Wrong key")), version: null, api_version: null, platform: null },
  ...{ identity: null, warnings: [], remedy: null, checked_at: 5 },
});

/** One secret of each kind, with a canary in everything that must not be seen. */
const secrets = {
  github: { token: `ghp_${canary}` },
  gitlab: { token: `glpat-${canary}` },
  gitea: { token: canary },
  helm: { basic_auth: `ci:${canary}` },
  oci: { username: "ci", password: canary },
  docker: { ca_certificate: pem, client_certificate: pem, client_key: pem, username: "u", password: canary },
  podman: { password: canary },
  kubernetes: { kubeconfig: `apiVersion: v1\ntoken: ${canary}`, token: canary },
  portainer: { api_key: `ptr_${canary}` },
} as const;

let temporary: TemporaryDatabase;
beforeEach(async () => {
  temporary = await temporaryDatabase();
});
afterEach(() => temporary.close());

function open(onOpen: (secret: string) => void = () => undefined) {
  const clock = createFakeClock();
  const sealer = createSealer({ keys: { primary: generateFernetKey() }, clock, onOpen });
  return credentialService({
    db: temporary.db,
    clock,
    sealer,
    audit: auditRecorder({ clock }),
    judgeSecret: () => undefined,
  });
}

describe("credentialService()", () => {
  test("decrypts only what a page shows, unless the page is chosen or sorted by state", async () => {
    const decrypted: string[] = [];
    const service = open((secret) => decrypted.push(secret));
    for (const name of ["a", "b", "c"]) {
      const token = `glpat-${name}`;
      await service.create(actor, { name, kind: "gitlab", secret: { token } });
    }
    const of = async (query: object) => {
      decrypted.length = 0;
      await service.list({ limit: 1, ...query });
      return decrypted.toSorted();
    };
    expect(await of({})).toEqual(["glpat-a"]);
    expect(await of({ kind: "gitlab", sort: "-changed" })).toHaveLength(1);
    const all = ["glpat-a", "glpat-b", "glpat-c"];
    expect(new Set(await of({ state: "unused" }))).toEqual(new Set(all));
    expect(new Set(await of({ sort: "state" }))).toEqual(new Set(all));
  });

  test.each([...credentialKinds])("stores a %s credential sealed, and lists it without its secret", async (kind) => {
    const service = open();
    const created = await service.create(actor, { name: kind, kind, secret: secrets[kind] });
    const listed = await service.list({ kind });
    expect(listed.items).toEqual([created]);
    expect(created.secret_fields.toSorted()).toEqual(Object.keys(secrets[kind]).toSorted());
    expect(JSON.stringify(listed)).not.toContain(canary);
    expect(await service.openSecret(kind, created.id)).toEqual(secrets[kind]);
    await temporary.db.client.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    for (const file of ["tidemark.db", "tidemark.db-wal"]) {
      expect(readFileSync(join(temporary.dir, file)).includes(canary)).toBe(false);
    }
  });

  test("keeps what an edit leaves out or blank, and removes what it sets to null", async () => {
    const service = open();
    const { id } = await service.create(actor, { name: "engine", kind: "docker", secret: secrets.docker });
    await service.update(actor, id, { description: "new", secret: { password: "", client_key: "other" } });
    expect(await service.openSecret("docker", id)).toEqual({ ...secrets.docker, client_key: "other" });
    await service.update(actor, id, { secret: { username: null, password: null } });
    const { username: _u, password: _p, ...rest } = secrets.docker;
    expect(await service.openSecret("docker", id)).toEqual({ ...rest, client_key: "other" });
  });

  test.each([
    [{ kind: "oci", name: "x", secret: { username: "u" } }, { "secret.password": "This field is required" }],
    [
      { kind: "github", name: "x", secret: { token: "abc" } },
      { "secret.token": 'A token of this platform begins with "ghp_" or "github_pat_" or "gho_" or "ghs_"' },
    ],
    [
      { kind: "helm", name: "x", secret: { basic_auth: "user" } },
      { "secret.basic_auth": 'Enter it as "username:password"' },
    ],
    [{ kind: "oci", name: "", secret: secrets.oci }, { name: "This field is required" }],
    [{ kind: "oci", name: "a\u0007b", secret: secrets.oci }, { name: "Control characters are not allowed" }],
    [{ kind: "oci", name: "x", secret: secrets.oci, extra: 1 }, { extra: "There is no such field" }],
  ])("refuses %j and names the field", async (input, fields) => {
    const service = open();
    await expect(service.create(actor, input)).rejects.toMatchObject({ status: 422, fields });
    expect((await service.list({})).items).toEqual([]);
  });

  test("refuses an edit that leaves a secret incomplete, and keeps the old one", async () => {
    const service = open();
    const { id } = await service.create(actor, { name: "x", kind: "oci", secret: secrets.oci });
    await expect(service.update(actor, id, { secret: { password: null } })).rejects.toMatchObject({ status: 422 });
    expect(await service.openSecret("oci", id)).toEqual(secrets.oci);
  });

  test("refuses to delete what is in use, and names its users", async () => {
    const service = open();
    const { id } = await service.create(actor, { name: "engine", kind: "docker", secret: secrets.docker });
    await temporary.db.write((tx) =>
      tx.insert(connections).values({
        id: "c1",
        name: "nas",
        kind: "docker",
        config: {},
        credential_id: id,
        created_at: 0,
        updated_at: 0,
      }),
    );
    await expect(service.remove(actor, id)).rejects.toMatchObject({
      status: 409,
      code: "in_use",
      message: 'The credential "engine" is used by connection "nas"',
    });
    expect((await service.get(id)).users).toEqual([{ kind: "connection", id: "c1", name: "nas" }]);
  });

  test("says where a credential is refused, as the overview does, and finds those by it", async () => {
    const service = open();
    const clock = createFakeClock();
    const world = installation(temporary.db, clock);
    const add = async (name: string) => (await service.create(actor, { name, kind: "oci", secret: secrets.oci })).id;
    const refused = { last_error_code: "unauthorized", last_error_message: plain("No"), failing_since: 7 };
    const [one, twice, single, works, nothing] = await Promise.all(["1", "2", "3", "4", "5"].map(add));
    await world.tracker("only", { credential_id: one, ...refused });
    // Refused for itself: another source of the same host is not.
    await world.tracker("odd", { credential_id: works, ...refused });
    await world.tracker("fine", { credential_id: works });
    const at = { created_at: 0, updated_at: 0 };
    const lost = { missed_looks: 2, missed_since: 9, fault: plain("Go away") };
    const connect = (name: string, changes: Partial<typeof connections.$inferInsert>) =>
      temporary.db.write((tx) =>
        tx.insert(connections).values({ id: name, name, kind: "docker", config: {}, ...at, ...changes }),
      );
    await connect("nas", { credential_id: twice, fault_code: "unauthorized", ...lost });
    await connect("tested", { credential_id: twice, seen_at: clock.now(), last_check: testedAs("unauthorized") });
    await connect("off", { credential_id: works, fault_code: "unauthorized", ...lost, is_enabled: false });
    await connect("away", { credential_id: single, fault_code: "unreachable", ...lost });

    const { items } = await service.list({ sort: "state" });
    expect(
      items.map(({ name, state, refusals }) => [
        name,
        state,
        refusals.map((each) => [each.by, each.name, each.since, each.error.message]),
      ]),
    ).toEqual([
      ["1", "refused", [["host", "registry.example.org", 7, "No"]]],
      [
        "2",
        "refused",
        [
          ["connection", "nas", 9, "Go away"],
          ["connection", "tested", 5, "Wrong key"],
        ],
      ],
      ["5", "unused", []],
      ["3", "used", []],
      ["4", "used", []],
    ]);
    for (const state of credentialStates) {
      const found = await service.list({ state });
      expect(found.items.map(({ name }) => name)).toEqual(
        items.filter((each) => each.state === state).map(({ name }) => name),
      );
    }
    expect(await service.counts({})).toMatchObject({ state: { refused: 2, used: 2, unused: 1 } });
    expect((await service.get(nothing ?? "")).state).toBe("unused");
  });

  test("refuses a credential of another kind, by name", async () => {
    const service = open();
    const { id } = await service.create(actor, { name: "hub", kind: "oci", secret: secrets.oci });
    await expect(service.openSecret("docker", id)).rejects.toMatchObject({ code: "rejected" });
    await expect(service.requireKind(temporary.db.read, "docker", id, "credential_id")).rejects.toMatchObject({
      fields: { credential_id: 'The credential "hub" is of type "oci"; choose one of type "docker"' },
    });
  });

  test("names the credential whose secret another key encrypted, and lists it for a new one", async () => {
    await open().create(actor, { name: "hub", kind: "oci", secret: secrets.oci });
    const service = open();
    const said =
      'The credential "hub" cannot be used: a stored secret cannot be decrypted; it is damaged or belongs to another key. Enter it again under Credentials';
    await expect(service.openAll()).rejects.toMatchObject({ name: "PluginError", message: said });
    const { items } = await service.list({});
    expect(items).toMatchObject([{ name: "hub", secret_fields: [] }]);
    await service.update(actor, items[0]?.id ?? "", { secret: secrets.oci });
    await service.openAll();
  });

  test("pages by name", async () => {
    const service = open();
    for (const name of ["c", "a", "b"]) await service.create(actor, { name, kind: "gitea", secret: secrets.gitea });
    const first = await service.list({ limit: "2" });
    const second = await service.list({ limit: 2, cursor: first.next_cursor ?? undefined });
    expect([...first.items, ...second.items].map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(second.next_cursor).toBeNull();
    await expect(service.list({ limit: 101 })).rejects.toMatchObject({ status: 422 });
  });

  test("50 at once: all succeed", async () => {
    const service = open();
    const inputs = Array.from({ length: 50 }, (_, index) => ({
      name: `n${index}`,
      kind: "gitea",
      secret: secrets.gitea,
    }));
    await Promise.all(inputs.map((input) => service.create(actor, input)));
    expect((await service.list({ limit: 100 })).items).toHaveLength(50);
  });
});
