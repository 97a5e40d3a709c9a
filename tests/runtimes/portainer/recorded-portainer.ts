import type { Stack } from "../../../src/runtimes/portainer/objects.ts";

/** A container as the engine of the recorded environment describes it. */
export interface RecordedContainer {
  service: string;
  image: string;
  /** Of the image. */
  id?: string;
  state?: Readonly<Record<string, unknown>>;
  container?: Readonly<Record<string, unknown>>;
}

export interface RecordedPortainer extends AsyncDisposable {
  url: string;
  /** What its stack is, to be changed by a test. */
  world: {
    stack: Record<string, unknown> & Pick<Stack, "Id" | "Name">;
    file: string;
    containers: readonly RecordedContainer[];
  };
  /** `GET /api/stacks`, with the key that came with it. */
  requests: { line: string; key: string | null; body: string }[];
  /** Answers requests of this kind; null leaves it to the record. */
  answer: (line: string) => Response | null | Promise<Response | null>;
}

export const key = "ptr_recorded-key-5Kq9wZ2x7Lm4=";
const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
export const imageIds = { old: digest("a"), next: digest("b") } as const;

const shop = { Id: 3, Name: "shop", Type: 2, EndpointId: 1, EntryPoint: "docker-compose.yml", Env: null, Status: 1 };

type World = RecordedPortainer["world"];

/** What a Portainer 2.23 answers to `GET /api/stacks`, about one stack of one environment; undefined for what it does not know. */
export function portainerAnswers(given: Omit<World, "stack"> & Partial<World>): (line: string) => unknown {
  return (line) => {
    const { stack = shop, file, containers } = given;
    if (line === "GET /api/system/status") return { Version: "2.23.0" };
    if (line === "GET /api/endpoints/1") return { Id: 1, Name: "primary", Type: 1 };
    if (line === "GET /api/endpoints") return [{ Id: 1, Name: "primary", Type: 1 }];
    if (line === "GET /api/stacks") return [stack];
    if (line === `GET /api/stacks/${stack.Id}`) return stack;
    if (line === `GET /api/stacks/${stack.Id}/file`) return { StackFileContent: file };
    const [, path = ""] = /^GET \/api\/endpoints\/1\/docker(\/.*)$/.exec(line) ?? [];
    if (path === "/version") return { Version: "29.0.0", ApiVersion: "1.52", Os: "linux", Arch: "amd64" };
    const all = containers.map(inspected);
    if (path === "/containers/json") {
      return all.map(({ Id, Name, Image, Config }) => ({ Id, Names: [Name], ImageID: Image, ...Config }));
    }
    const [, id] = /^\/containers\/([0-9a-f]+)\/json$/.exec(path) ?? [];
    if (id !== undefined) return all.find((each) => each.Id === id);
    const [, image] = /^\/images\/(sha256:[0-9a-f]+)\/json$/.exec(path) ?? [];
    return image === undefined ? undefined : { Id: image, RepoDigests: [], Os: "linux", Architecture: "amd64" };
  };
}

function inspected({ service, image, id = imageIds.old, state, container }: RecordedContainer, index: number) {
  const Labels = { "com.docker.compose.project": "shop", "com.docker.compose.service": service };
  return {
    ...{ Id: index.toString(16).repeat(64), Name: `/shop-${service}-1`, Image: id, RestartCount: 0 },
    State: { Status: "running", Running: true, StartedAt: "2026-01-02T03:04:05Z", ...state },
    ...{ Config: { Image: image, Labels }, HostConfig: {}, Mounts: [] },
    ...container,
  };
}

/** A server that answers so. */
export function recordedPortainer(file: string, containers: readonly RecordedContainer[]): RecordedPortainer {
  const requests: RecordedPortainer["requests"] = [];
  const world: World = { file, containers, stack: { ...shop } };
  const known = portainerAnswers(world);
  const recorded = { requests, world, answer: (): ReturnType<RecordedPortainer["answer"]> => null };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const line = `${request.method} ${new URL(request.url).pathname}`;
      requests.push({ line, key: request.headers.get("x-api-key"), body: await request.text() });
      const given = await self.answer(line);
      if (given !== null) return given;
      const value = known(line);
      if (value === undefined) return Response.json({ message: "Not found", details: "" }, { status: 404 });
      return Response.json(value);
    },
  });
  const self: RecordedPortainer = Object.assign(recorded, {
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: async () => {
      await server.stop(true);
    },
  });
  return self;
}
