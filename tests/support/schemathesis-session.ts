// Runs in a network namespace without a way out: starts the real server, gives it something of every kind, lets schemathesis loose
// on its OpenAPI document with an API token, and prints what came of it as JSON. Arguments: the program, then its options.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiClient, firstSignIn, startServer, testPassword } from "./server.ts";

export interface SchemathesisOutcome {
  code: number;
  output: string;
  /** Warnings and errors of the server, which has no reason to write any. */
  complaints: string[];
  /** What its token answers afterwards: a run whose token was lost proved nothing. */
  token_status: number;
}

/** Something to be found, changed and deleted; what is generated alone would mostly be refused for what it refers to. */
async function furnish(api: ApiClient): Promise<void> {
  const made = async (path: string, body: unknown) => {
    const answer = await api.post(path, body);
    if (answer.status !== 201)
      throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return String(answer.body.id);
  };
  const secret = { username: "someone", password: "a password of a registry" };
  await made("/credentials", { name: "registry", kind: "oci", secret });
  const config = { address: "unix:///nowhere/docker.sock" };
  const connection = await made("/runtime-connections", { name: "engine", kind: "docker", config });
  const source = { key: "main", kind: "oci", config: { image: "app", registry: "http://127.0.0.1:9" } };
  const sources = [{ ...source, channels: [{ type: "stable" }] }];
  await made("/trackers", { name: "app", sorting: "semantic", sources });
  const bindings = [{ tracker: "app", source: "main", channel: "stable" }];
  const target = { kind: "container", id: "web" };
  await made("/executors", { name: "web", connection_id: connection, target, bindings, trigger: "manual" });
  const url = "https://hooks.example.org/a";
  await made("/notifiers", { name: "chat", kind: "webhook", url, language: "en", trigger_events: ["new_release"] });
}

async function main(): Promise<void> {
  const [program = "", ...options] = process.argv.slice(2);
  const server = await startServer();
  const work = mkdtempSync(join(tmpdir(), "tidemark-schemathesis-"));
  try {
    const session = await firstSignIn(server);
    await furnish(session);
    const made = await session.post("/api-tokens", {
      name: "schemathesis",
      scope: "full",
      expires_in_days: 1,
      current_password: testPassword,
    });
    const token = String(made.body.token);
    const header = `Authorization: Bearer ${token}`;
    const args = ["run", `${server.url}/openapi.json`, "--header", header, "--no-color", ...options];
    const child = spawn(program, args, { cwd: work, stdio: ["ignore", "pipe", "pipe"] });
    const chunks: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    const code = await new Promise<number>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (each) => resolve(each ?? -1));
    });
    const answer = await fetch(`${server.url}/api/settings`, { headers: { authorization: `Bearer ${token}` } });
    const outcome: SchemathesisOutcome = {
      code,
      output: Buffer.concat(chunks).toString().replaceAll(token, "TOKEN"),
      complaints: server.lines.filter((line) => / ERROR | panic|Unhandled/.test(line)),
      token_status: answer.status,
    };
    console.log(JSON.stringify(outcome));
  } finally {
    await server.kill("SIGTERM");
    rmSync(server.data_dir, { recursive: true, force: true });
    rmSync(work, { recursive: true, force: true });
  }
}

if (import.meta.main) await main();
