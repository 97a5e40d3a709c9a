import { randomBytes, randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Certificate } from "./authority.ts";
import { type Compose, type ComposeVersion, composeMissing, startCompose } from "./compose.ts";
import { type EngineMode, engineMissing, type TestEngine } from "./engine.ts";

const defaultCompose: ComposeVersion = "5.6.0";

/** Why the stand-in cannot do its work here, or null when it can. */
export function portainerMissing(mode: EngineMode): string | null {
  return engineMissing(mode) ?? composeMissing(defaultCompose);
}

export interface Variable {
  name: string;
  value: string;
}

/** A stack as Portainer's API shows it. */
export interface StackRecord {
  Id: number;
  Name: string;
  /** 1 Swarm, 2 compose, 3 Kubernetes. */
  Type: number;
  EndpointId: number;
  EntryPoint: string;
  Env: Variable[] | null;
  ResourceControl: unknown;
  /** 1 active, 2 stopped, 3 deploying, 4 failed. */
  Status: number;
  /** The last entry is the latest. */
  DeploymentStatus?: readonly { Message: string }[];
  ProjectPath: string;
  CreationDate: number;
  CreatedBy: string;
  UpdateDate: number;
  UpdatedBy: string;
  AdditionalFiles: string[] | null;
  AutoUpdate: unknown;
  Option: unknown;
  GitConfig: unknown;
  FromAppTemplate: boolean;
  Namespace: string;
}

/** What goes wrong with the next request that fits, once. */
export interface Fault {
  method: string;
  /** The beginning of the path below `/api`, such as `/stacks/`. */
  path: string;
  /** `before`: the request does nothing; `after`: it is carried out, and only its answer is lost. */
  when: "before" | "after";
  /** `hang`: no answer; `cut`: the connection breaks; a status: what a proxy in front of Portainer would answer. */
  answer: "hang" | "cut" | 502 | 504;
}

export interface PortainerOptions {
  engine: TestEngine;
  /** Answers over TLS with it. */
  certificate?: Certificate;
}

/** Standard users, and one whom somebody forbade to edit stacks. */
export type Role = "administrator" | "user" | "reader";

export interface Portainer {
  url: string;
  environment: number;
  /** An administrator's. */
  key: string;
  createKey(role: Role): string;
  /** Creates and deploys a stack; throws with what was answered if that fails. */
  createStack(name: string, file: string, env?: readonly Variable[]): Promise<number>;
  /** A record of a stack that somebody else deployed, such as one from git. */
  addRecord(record: Partial<StackRecord> & Pick<StackRecord, "Name">, file: string): number;
  stack(id: number): StackRecord;
  /** Changes the record alone, as another user would who edits it. */
  edit(id: number, change: { file?: string; record?: Partial<StackRecord> }): void;
  file(id: number): string;
  fail(fault: Fault): void;
  /** Whether it answers an update before it carries it out, as newer versions do. */
  answerFirst(isFirst: boolean): void;
  /** `PUT /stacks/1`, in the order of their arrival. */
  requests: readonly string[];
  /** The bodies of all updates. */
  puts: readonly Readonly<Record<string, unknown>>[];
  /** How many updates are being carried out. */
  updating(): number;
  stop(): Promise<void>;
}

const environment = 1;

/** `{message, details}`, as Portainer answers every refusal. */
class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly details = message,
  ) {
    super(message);
  }
}

interface Caller {
  role: Role;
}

interface Call {
  method: string;
  path: string;
  query: URLSearchParams;
  body: string;
  caller: Caller | null;
}

/**
 * A stand-in that keeps Portainer's contract as observed on 2.23, with a real compose on a real engine behind it: an update that fails
 * really takes the stack down. Portainer itself cannot be had as a package.
 */
export async function startPortainer({ engine, certificate }: PortainerOptions): Promise<Portainer> {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-portainer-"));
  const keys = new Map<string, Caller>();
  const stacks = new Map<number, StackRecord>();
  const composes: Compose[] = [];
  const faults: Fault[] = [];
  const requests: string[] = [];
  const puts: Readonly<Record<string, unknown>>[] = [];
  let updating = 0;
  let answersFirst = false;
  let lastUpdate = Math.floor(Date.now() / 1000);

  const createKey = (role: Role) => {
    const key = `ptr_${randomBytes(32).toString("base64")}`;
    keys.set(key, { role });
    return key;
  };
  const key = createKey("administrator");
  /** In seconds; never twice the same, so that each update is a later one. */
  const now = () => {
    lastUpdate = Math.max(lastUpdate + 1, Math.floor(Date.now() / 1000));
    return lastUpdate;
  };
  const fileOf = ({ ProjectPath, EntryPoint }: StackRecord) => join(ProjectPath, EntryPoint);
  const composeIn = (path: string) => {
    const compose = startCompose({ engine, version: defaultCompose, folder: path });
    composes.push(compose);
    return compose;
  };

  /** What Portainer does for every change of a compose stack; throws with what compose said. */
  const deploy = async (stack: StackRecord, env: readonly Variable[] | null, pullImage: boolean): Promise<void> => {
    const { ProjectPath, EntryPoint, Name } = stack;
    writeFileSync(join(ProjectPath, "stack.env"), (env ?? []).map(({ name, value }) => `${name}=${value}\n`).join(""));
    const compose = composeIn(ProjectPath);
    const project = ["-p", Name, "--project-directory", ProjectPath, "-f", EntryPoint, "--env-file", "stack.env"];
    try {
      if (pullImage) await compose.must([...project, "pull"]);
      const up = await compose.run([...project, "up", "-d"]);
      if (up.code === 0) return;
      await compose.run(["-p", Name, "down"]);
      throw new Error(`failed to deploy a stack: ${up.stderr.slice(-2000)}`);
    } finally {
      compose.stop();
    }
  };
  const newRecord = (name: string): StackRecord => {
    const id = stacks.size + 1;
    const path = join(folder, String(id));
    mkdirSync(path, { recursive: true });
    return {
      ...{ Id: id, Name: name, Type: 2, EndpointId: environment, EntryPoint: "docker-compose.yml", Env: null },
      ...{ ResourceControl: null, Status: 1, ProjectPath: path, CreationDate: now(), CreatedBy: "admin" },
      ...{ UpdateDate: 0, UpdatedBy: "", AdditionalFiles: null, AutoUpdate: null, Option: null, GitConfig: null },
      ...{ FromAppTemplate: false, Namespace: "" },
    };
  };

  const createStack = async ({ query, body }: Call): Promise<StackRecord> => {
    if (query.get("endpointId") !== String(environment)) throw new Refused(400, "Invalid query parameter: endpointId");
    const input: { name: string; stackFileContent: string; env?: Variable[] } = JSON.parse(body);
    if ([...stacks.values()].some(({ Name }) => Name === input.name)) {
      throw new Refused(409, `A stack with the name '${input.name}' already exists`);
    }
    const stack = { ...newRecord(input.name), Env: input.env ?? null };
    writeFileSync(fileOf(stack), input.stackFileContent);
    await deploy(stack, stack.Env, false).catch((error: Error) => {
      throw new Refused(500, error.message);
    });
    stacks.set(stack.Id, stack);
    return stack;
  };
  const updateStack = async (stack: StackRecord, { query, body, caller }: Call): Promise<StackRecord> => {
    if (query.get("endpointId") === null) throw new Refused(400, "Invalid query parameter: endpointId");
    if (query.get("endpointId") !== String(environment)) throw new Refused(404, "Unable to find the environment");
    if (caller?.role === "reader") throw new Refused(403, "Access denied to resource");
    if (caller?.role === "user") throw new Refused(403, "Stack editing is disabled for non-administrator users");
    const input: { stackFileContent?: string; env?: Variable[]; pullImage?: boolean } = JSON.parse(body);
    puts.push(input);
    if (input.stackFileContent === undefined || input.stackFileContent === "") {
      throw new Refused(400, "Invalid request payload", "Invalid stack file content");
    }
    const before = readFileSync(fileOf(stack), "utf8");
    writeFileSync(fileOf(stack), input.stackFileContent);
    const env = input.env ?? null;
    updating += 1;
    const deployed = deploy(stack, env, input.pullImage === true).finally(() => {
      updating -= 1;
    });
    const detached = stack.GitConfig === null ? {} : { GitConfig: null, AutoUpdate: null, FromAppTemplate: true };
    // The update starts a stopped stack, too.
    const end = (state: Partial<StackRecord>) =>
      Object.assign(stack, detached, { Env: env, Status: 1, UpdateDate: now(), UpdatedBy: "admin" }, state);
    if (answersFirst) {
      end({ Status: 3, DeploymentStatus: [{ Message: "" }] });
      const show = (Status: number, Message: string) => {
        Object.assign(stack, { Status, DeploymentStatus: [...(stack.DeploymentStatus ?? []), { Message }] });
      };
      deployed.then(
        () => show(1, ""),
        (error: unknown) => show(4, String(error)),
      );
    } else {
      await deployed.catch((error: unknown) => {
        writeFileSync(fileOf(stack), before);
        throw new Refused(500, error instanceof Error ? error.message : String(error));
      });
      end({});
    }
    return { ...stack, ResourceControl: null };
  };

  const answerStacks = async (call: Call): Promise<unknown> => {
    const { method, path } = call;
    if (method === "GET" && path === "/stacks") return [...stacks.values()];
    if (method === "POST" && path === "/stacks/create/standalone/string") return await createStack(call);
    const [, id = "", of] = /^\/stacks\/(\d+)(\/file)?$/.exec(path) ?? [];
    const stack = stacks.get(Number(id));
    if (stack === undefined) {
      throw new Refused(404, "Unable to find a stack with the specified identifier inside the database");
    }
    if (method === "GET") return of === undefined ? stack : { StackFileContent: readFileSync(fileOf(stack), "utf8") };
    if (method === "PUT" && of === undefined) return await updateStack(stack, call);
    throw new Refused(405, "Method not allowed");
  };
  const instance = randomUUID();
  const endpoint = {
    ...{ Id: environment, Name: "primary", Type: 1, URL: engine.address, Status: 1, Snapshots: [] },
    SecuritySettings: { allowStackManagementForRegularUsers: false },
  };
  const answer = async (call: Call): Promise<unknown> => {
    const { path, caller } = call;
    if (path === "/system/status" || path === "/status") return { Version: "2.23.0", InstanceID: instance };
    if (caller === null) throw new Refused(401, "A valid authorization token is missing", "Unauthorized");
    if (path === "/users/me") return { Id: 1, Username: "admin", Role: caller.role === "administrator" ? 1 : 2 };
    if (path === "/endpoints") return [endpoint];
    if (path.startsWith("/endpoints/")) {
      if (path === `/endpoints/${environment}`) return endpoint;
      throw new Refused(404, "Unable to find an environment with the specified identifier inside the database");
    }
    return await answerStacks(call);
  };

  const toEngine = (request: IncomingMessage, path: string, response: ServerResponse) => {
    const { method } = request;
    const onward = http.request({ socketPath: engine.socket, path, ...(method === undefined ? {} : { method }) });
    onward.on("response", (found) => {
      response.writeHead(found.statusCode ?? 502, { "content-type": found.headers["content-type"] ?? "text/plain" });
      found.pipe(response);
    });
    onward.on("error", (error) =>
      reply(response, 502, { message: "Unable to proxy the request", details: String(error) }),
    );
    onward.end();
  };
  const reply = (response: ServerResponse, status: number, value: unknown) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(value));
  };
  const lose = (response: ServerResponse, { answer: how }: Fault) => {
    if (how === "cut") response.destroy();
    else if (how !== "hang") {
      response.writeHead(how, { "content-type": "text/html" });
      response.end("<html><body>Gateway</body></html>");
    }
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "", "http://portainer");
    const path = url.pathname.replace(/^\/api/, "");
    const method = request.method ?? "GET";
    requests.push(`${method} ${path}`);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const at = faults.findIndex((each) => each.method === method && path.startsWith(each.path));
    const [fault] = at < 0 ? [] : faults.splice(at, 1);
    if (fault?.when === "before") return lose(response, fault);
    const given = request.headers["x-api-key"];
    const caller = typeof given === "string" ? (keys.get(given) ?? null) : null;
    if (given !== undefined && caller === null) {
      return reply(response, 401, { message: "Invalid JWT token", details: "Invalid JWT token" });
    }
    const [, engines] = new RegExp(`^/endpoints/${environment}/docker(/.*)$`).exec(path) ?? [];
    if (engines !== undefined && caller !== null && fault === undefined) {
      return toEngine(request, `${engines}${url.search}`, response);
    }
    const call = { method, path, query: url.searchParams, body: Buffer.concat(chunks).toString(), caller };
    const found = await answer(call).then(
      (value) => ({ status: 200, value }),
      (error: unknown) => {
        if (!(error instanceof Refused)) throw error;
        return { status: error.status, value: { message: error.message, details: error.details } };
      },
    );
    if (fault === undefined) reply(response, found.status, found.value);
    else lose(response, fault);
  };

  const handle = (request: IncomingMessage, response: ServerResponse) => {
    serve(request, response).catch((error) => reply(response, 500, { message: String(error), details: "" }));
  };
  const server =
    certificate === undefined
      ? http.createServer(handle)
      : https.createServer(
          { cert: readFileSync(certificate.cert_file), key: readFileSync(certificate.key_file) },
          handle,
        );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;

  const known = (id: number) => {
    const stack = stacks.get(id);
    if (stack === undefined) throw new Error(`There is no stack ${id}`);
    return stack;
  };
  return {
    url: `${certificate === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    environment,
    key,
    createKey,
    createStack: async (name, stackFileContent, env = []) => {
      const body = JSON.stringify({ name, stackFileContent, env });
      const query = new URLSearchParams({ endpointId: String(environment) });
      const { Id } = await createStack({ method: "POST", path: "", query, body, caller: { role: "administrator" } });
      return Id;
    },
    addRecord: (record, file) => {
      const stack = { ...newRecord(record.Name), ...record };
      writeFileSync(fileOf(stack), file);
      stacks.set(stack.Id, stack);
      return stack.Id;
    },
    stack: known,
    edit: (id, { file, record }) => {
      if (file !== undefined) writeFileSync(fileOf(known(id)), file);
      Object.assign(known(id), record);
    },
    file: (id) => readFileSync(fileOf(known(id)), "utf8"),
    fail: (fault) => {
      faults.push(fault);
    },
    answerFirst: (isFirst) => {
      answersFirst = isFirst;
    },
    requests,
    puts,
    updating: () => updating,
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      for (const { Name } of stacks.values()) {
        const compose = composeIn(folder);
        await compose.run(["-p", Name, "down", "-t", "1"]);
      }
      for (const compose of composes) compose.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
