import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Compose, composeMissing, startCompose } from "../peers/compose.ts";
import { engineMissing, startEngine, type TestEngine } from "../peers/engine.ts";
import { freePort } from "../peers/free-port.ts";
import { buildProductImage, writeDeployment } from "../peers/product-image.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, apiClient, testPassword } from "../support/server.ts";

const limit = 600_000;
const version = "2.40.3";

// The image of our Dockerfile, brought up by our compose.yaml with the real compose.
peerSuite("the image, run by its compose file", engineMissing() ?? composeMissing(version), () => {
  let engine: TestEngine;
  let compose: Compose;
  let folder: string;
  let home: string;
  let api: ApiClient;
  let inspected: Record<string, unknown>;

  const inContainer = (...command: readonly string[]) => compose.run(["exec", "-T", "tidemark", ...command]);
  const inspect = async () => (await engine.call("GET", "/containers/tide-tidemark-1/json")) as Record<string, unknown>;

  beforeAll(async () => {
    engine = await startEngine();
    await buildProductImage(engine.socket);
    folder = mkdtempSync(join(tmpdir(), "tidemark-deployment-"));
    const port = await freePort();
    writeDeployment(folder, { port, socket: engine.socket, group: statSync(engine.socket).gid });
    compose = startCompose({ engine, version, folder });
    await compose.must(["up", "-d"]);
    home = `http://127.0.0.1:${port}`;
    await eventually("the service to answer", async () => (await fetch(`${home}/health/ready`)).ok);
    inspected = await inspect();
  }, limit);
  afterAll(async () => {
    compose?.stop();
    await engine?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }, limit);

  test("runs as nobody special, read-only, without capabilities and without a way to more", () => {
    expect(inspected).toMatchObject({
      Config: { User: "1000:1000" },
      HostConfig: {
        Privileged: false,
        ReadonlyRootfs: true,
        CapAdd: null,
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges:true"],
        Tmpfs: { "/tmp": "" },
        PidMode: "",
      },
    });
  });

  test("is reached from this machine alone", () => {
    const ports = (inspected as { NetworkSettings: { Ports: Record<string, { HostIp: string }[]> } }).NetworkSettings
      .Ports;
    expect(Object.values(ports).flatMap((bindings) => bindings.map(({ HostIp }) => HostIp))).toEqual(["127.0.0.1"]);
  });

  test("has one place to write to besides its temporary folder: the data", async () => {
    const { Mounts } = inspected as { Mounts: { Type: string; Destination: string }[] };
    const places = Mounts.map(({ Type, Destination }) => `${Type} ${Destination}`).sort();
    expect(places).toEqual(["bind /var/run/docker.sock", "volume /data"]);
    for (const place of ["/", "/app", "/app/src", "/etc", "/bin"]) {
      const { code, stderr } = await inContainer("touch", join(place, "x"));
      expect([place, code, stderr]).toEqual([place, 1, expect.stringMatching(/Read-only|Permission denied/)]);
    }
    expect((await inContainer("touch", "/data/x")).code).toBe(0);
    expect(await compose.must(["exec", "-T", "tidemark", "bun", "-e", modeOfKeys])).toContain("700 1000 600");
  });

  test("its process has no capability, and cannot get one", async () => {
    const status = await compose.must(["exec", "-T", "tidemark", "cat", "/proc/1/status"]);
    const of = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, "m").exec(status)?.[1];
    expect(["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].map(of)).toEqual(Array(5).fill("0000000000000000"));
    expect([of("NoNewPrivs"), of("Uid"), of("Gid"), of("Seccomp")]).toEqual(["1", "1000", "1000", "2"]);
  });

  test(
    "says by itself that it is healthy",
    async () => {
      await eventually("its health check to pass", async () => {
        const { State } = (await inspect()) as { State: { Health: { Status: string } } };
        return State.Health.Status === "healthy";
      });
    },
    limit,
  );

  test("says the first password once, gets at the engine by the socket's group, and refuses itself as a target", async () => {
    const logs = await compose.must(["logs", "--no-log-prefix", "tidemark"]);
    const lines = logs.split("\n").filter((line) => line.includes("bootstrap password"));
    expect(lines).toHaveLength(1);
    const password = lines[0]?.trim().split(" ").at(-1);
    api = apiClient(home);
    api.token = String((await api.post("/session", { username: "admin", password })).body.token);
    const change = { current_password: password, new_password: testPassword };
    api.token = String((await api.request("PUT", "/account/password", change)).body.token);
    const config = { address: "unix:///var/run/docker.sock" };
    const connection = await api.post("/runtime-connections", { name: "engine", kind: "docker", config });
    expect([connection.status, connection.body]).toMatchObject([201, {}]);
    const { body } = await api.get(`/runtime-connections/${connection.body.id}/targets`);
    expect(JSON.stringify(body)).toContain("own_container");
  });

  test(
    "is backed up and restored, and asks for a new password, by the documented commands",
    async () => {
      const commands = documentedCommands();
      expect(commands).toHaveLength(6);
      for (const command of commands) {
        const { code, stderr } = await compose.run(command);
        const asks = command.includes("reset-password");
        expect([command, code, stderr]).toEqual([
          command,
          asks ? 2 : 0,
          expect.stringContaining(asks ? "terminal" : ""),
        ]);
      }
      await eventually("the restored service to answer", async () => (await fetch(`${home}/health/ready`)).ok);
      expect((await api.get("/account")).status).toBe(401);
      expect((await api.post("/session", { username: "admin", password: testPassword })).status).toBe(201);
    },
    limit,
  );

  test("ends in an orderly way when it is stopped", async () => {
    await compose.must(["stop"]);
    const { State } = (await inspect()) as { State: { ExitCode: number } };
    expect(State.ExitCode).toBe(0);
  });
});

/** What docs/operations.md says to run in the container, without the words "docker compose" and without a terminal. */
function documentedCommands(): string[][] {
  const text = readFileSync(join(import.meta.dir, "../../docs/operations.md"), "utf8");
  const block = text.split("## Commands in a container\n")[1]?.split("```")[1] ?? "";
  const lines = [...block.matchAll(/^docker compose (.+?)(?:\s+#.*)?$/gm)].map(([, words = ""]) => words.split(" "));
  return lines.map((words) => (words[0] === "exec" ? ["exec", "-T", ...words.slice(1)] : words));
}

/** Of the data directory and of the key file in it: who may read them. */
const modeOfKeys = `const { statSync: s } = require("node:fs"); const m = (p) => (s(p).mode & 0o777).toString(8); console.log(m("/data"), s("/data").uid, m("/data/keys.json"))`;
