import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
beforeAll(async () => {
  app = await testApp();
  person = await app.signedIn();
});
afterAll(() => app.close());

const blocked = async () =>
  (await app.services.audit_entries.list({ event: "destination_blocked" })).items.map(({ actor, outcome, detail }) => ({
    actor,
    outcome,
    detail,
  }));
const entry = (connection: string) => ({
  actor: "admin",
  outcome: "refused" as const,
  detail: {
    reason: "Destination blocked",
    reason_data: { code: "net.destination_blocked", params: { entry: null } },
    connection,
  },
});
const refusal = { error: { fields: { "config.address": "Destination blocked" } } };

describe("an engine's address that leads to a cloud's metadata", () => {
  test.each([
    ["docker", "tcp://169.254.169.254:80"],
    ["docker", "tcp://2852039166:2375"],
    ["podman", "tcp://0xa9fea9fe:2375"],
    ["docker", "tcp://[::ffff:169.254.169.254]:2376"],
    ["docker", "tcp://[fd00:ec2::254]:2376"],
    ["podman", "tcp://168.63.129.16:2375"],
    ["docker", "tcp://metadata.google.internal:80"],
    ["docker", "tcp://Metadata.Google.Internal.:80"],
  ])("stores nothing and leaves an entry: %s, %s", async (kind, address) => {
    const before = await blocked();
    const answer = await person.api("POST", "/runtime-connections", { name: "lab", kind, config: { address } });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject(refusal);
    expect((await blocked()).slice(before.length)).toHaveLength(1);
    expect((await blocked())[0]).toEqual(entry("lab"));
    expect((await app.services.connections.list({})).items).toEqual([]);
  });

  test("does the same at an edit, and keeps what is stored", async () => {
    const config = { address: "tcp://10.0.0.1:2375" };
    const created = await person.api("POST", "/runtime-connections", { name: "kept", kind: "docker", config });
    expect(created.status).toBe(201);
    const path = `/runtime-connections/${String(created.body.id)}`;
    const answer = await person.api("PATCH", path, { config: { address: "tcp://169.254.169.254:2375" } });
    expect([answer.status, answer.body]).toMatchObject([422, refusal]);
    expect((await blocked())[0]).toEqual(entry("kept"));
    expect((await person.api("GET", path)).body).toMatchObject({ config });
  });

  test.each(["tcp://metadata:2375", "tcp://engine.internal:2376", "/run/169.254.169.254.sock"])(
    "is not %s",
    async (address) => {
      const input = { name: address.slice(-20), kind: "docker", config: { address } };
      expect((await person.api("POST", "/runtime-connections", input)).status).toBe(201);
    },
  );
});
