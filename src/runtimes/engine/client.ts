import * as v from "valibot";
import { PluginError, type PluginErrorCode } from "../../errors.ts";
import { type Message, say, says } from "../../messages/message.ts";
import { tryBoundedJson } from "../../net/bounded-json.ts";
import { RecentMap } from "../../recent-map.ts";
import type { PullProgress } from "../journal.ts";
import { type LogReading, maxLogBytes } from "../logs.ts";
import type { RegistryAuth } from "../session.ts";
import { type Flavour, requireFlavour } from "./flavour.ts";
import { logQuery } from "./log-parts.ts";
import {
  ContainerInspect,
  ContainerSummary,
  Created,
  EngineVersion,
  FileChange,
  ImageInspect,
  ImageSummary,
  PathStat,
} from "./objects.ts";
import { portHolder, refusedPort } from "./published-ports.ts";
import { pullFailure, pullReader } from "./pull.ts";
import type { RawObject } from "./raw.ts";
import { isObject, stringAt } from "./raw.ts";
import { isSameRegistry, splitReference } from "./reference.ts";
import type { EngineRequest, EngineResponse, EngineTransport } from "./transport.ts";

/** The API versions that this client supports; it uses the highest one that the engine supports too. */
const supportedApi = { min: "1.40", max: "1.56" } as const;

/** How long a call may take, in milliseconds. A stop gets the container's own grace period on top. */
export interface EngineDeadlines {
  readMs: number;
  changeMs: number;
  pullIdleMs: number;
}
export const defaultDeadlines: EngineDeadlines = { readMs: 30_000, changeMs: 120_000, pullIdleMs: 120_000 };
/** For a whole pull, even while the engine keeps reporting progress. */
const maxPullMs = 6 * 3_600_000;

/** A refusal or failure of the engine, with its HTTP status if it responded. */
export class EngineError extends PluginError {
  readonly status: number | null;
  /** The engine's own message; blank if it gave no reason. */
  readonly answer: string;

  constructor(code: PluginErrorCode, said: Message, status: number | null, answer = "", cause?: unknown) {
    super(code, said, cause === undefined ? {} : { cause });
    this.name = "EngineError";
    this.status = status;
    this.answer = answer;
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof PluginError && error.code === "not_found";
}

export type EngineClient = ReturnType<typeof engineClient>;

interface ClientOptions {
  transport: EngineTransport;
  /** `1.41`; null before it is negotiated, and then only `version` may be called. */
  apiVersion: string | null;
  deadlines: EngineDeadlines;
  flavour: Flavour;
  /** What the engine supports; by default the negotiated version alone. */
  engineApi?: { min: string; max: string };
}

/** Some flavours need the image of every container; this many are cached, because an ID never changes its image. */
const maxRememberedImages = 500;

/** The verbs of the engine's API that we use, each once, and no others: never exec, build, commit, swarm or secrets. */
export function engineClient(options: ClientOptions) {
  const { transport, deadlines, flavour } = options;
  const version = options.apiVersion === null ? "" : `/v${options.apiVersion}`;
  /** Paths of the flavour's own API have its version in them already. */
  const versioned = (path: string) => (/^\/v[0-9]/.test(path) ? path : version + path);

  const send = async (request: Omit<EngineRequest, "deadlineMs"> & { deadlineMs?: number }) => {
    const fallback = request.method === "GET" ? deadlines.readMs : deadlines.changeMs;
    const full = { ...request, path: versioned(request.path), deadlineMs: request.deadlineMs ?? fallback };
    const response = await transport.send(full);
    throwIfRefused(full, response);
    return response;
  };
  const read = async <S extends v.GenericSchema>(schema: S, path: string, query?: Readonly<Record<string, string>>) => {
    const request = { method: "GET", path, ...(query === undefined ? {} : { query }) } as const;
    return parsed(schema, `GET ${path}`, await send(request));
  };
  const readImage = async (reference: string): Promise<ImageInspect> => {
    const path = flavour.paths.inspectImage(encodeReference(flavour.qualify(reference)));
    const tellsManifests = options.apiVersion !== null && compareApi(options.apiVersion, "1.48") >= 0;
    const answer = await read(v.record(v.string(), v.unknown()), path, tellsManifests ? { manifests: "1" } : undefined);
    return judged(ImageInspect, `GET ${path}`, flavour.readImage(answer));
  };
  const images = new RecentMap<string, Promise<RawObject>>(maxRememberedImages);
  const imageById = async (id: string): Promise<RawObject | null> => {
    const asked = images.get(id) ?? readImage(id);
    images.set(id, asked);
    try {
      return await asked;
    } catch (error) {
      images.delete(id);
      if (isMissing(error)) return null;
      throw error;
    }
  };
  const listContainers = () => read(v.array(ContainerSummary), "/containers/json", { all: "1" });
  const container = (id: string) => `/containers/${encodeURIComponent(id)}`;
  /** Null if a proxy in front of the engine forbids the request. */
  const findOrNull = async (path: string): Promise<RawObject | false | null> => {
    const request = { method: "GET", path: versioned(path), deadlineMs: deadlines.readMs } as const;
    const response = await transport.send(request);
    const status = statusOf(request, response);
    const answer = tryBoundedJson(response.text);
    if ([401, 403, 405].includes(status)) return null;
    // A proxy's own error page says nothing about the engine.
    if (status === 404) return isObject(answer) ? false : null;
    throwIfRefused(request, response);
    return judged(v.record(v.string(), v.unknown()), `GET ${path}`, answer);
  };

  return {
    version: () => read(EngineVersion, "/version"),
    listContainers,
    async inspectContainer(id: string): Promise<ContainerInspect> {
      const path = flavour.paths.inspectContainer(encodeURIComponent(id));
      const answer = await read(v.record(v.string(), v.unknown()), path);
      const imageId = flavour.imageOf(answer);
      const image = imageId === null ? null : await imageById(imageId);
      return judged(ContainerInspect, `GET ${path}`, flavour.readContainer(answer, image));
    },
    /** The API versions that the engine supports, and the one in use. */
    api: {
      negotiated: options.apiVersion ?? "",
      min: options.engineApi?.min ?? options.apiVersion ?? "",
      max: options.engineApi?.max ?? options.apiVersion ?? "",
    },
    /** The same container as another API version reports it. */
    inspectAs: (id: string, apiVersion: string) => read(ContainerInspect, `/v${apiVersion}${container(id)}/json`),
    /** With its platform manifests if the engine reports them (API 1.48): compose labels containers with their digests. */
    inspectImage: readImage,

    /** Returns the new ID. `body` is create JSON in Docker's form. */
    async createContainer(name: string, body: RawObject, platform: string | null): Promise<string> {
      const path = flavour.paths.createContainer;
      const query = flavour.createQuery(name, platform);
      const response = await send({ method: "POST", path, query, body: flavour.createBody(name, body, platform) });
      return parsed(Created, `POST ${path}`, response).Id;
    },
    /** Resolves once it runs, even if it already did. */
    async startContainer(id: string): Promise<void> {
      try {
        await send({ method: "POST", path: `${container(id)}/start` });
      } catch (error) {
        const port = error instanceof EngineError ? refusedPort(error.answer) : null;
        if (!(error instanceof EngineError) || port === null) throw error;
        const holder = portHolder(port, await listContainers().catch(() => Promise.reject(error)));
        const facts = { cause: error.said, port };
        const said =
          holder === null ? say("engine.port_not_released", facts) : say("engine.port_held", { ...facts, holder });
        throw new EngineError(error.code, said, error.status, error.answer, error);
      }
    },
    /** Resolves once it is stopped, even if it already was; `graceMs` is how long the engine waits before it kills it. */
    async stopContainer(id: string, graceMs: number): Promise<void> {
      await send({ method: "POST", path: `${container(id)}/stop`, deadlineMs: deadlines.readMs + graceMs });
    },
    async renameContainer(id: string, name: string): Promise<void> {
      await send({ method: "POST", path: `${container(id)}/rename`, query: { name } });
    },
    /** Does nothing for a flavour without it, whose containers are created with their final policy. */
    async updateRestartPolicy(id: string, policy: RawObject): Promise<void> {
      if (!flavour.changesRestartPolicy) return;
      await send({ method: "POST", path: `${container(id)}/update`, body: { RestartPolicy: policy } });
    },
    /** Removes a stopped container. Named volumes always stay; `withAnonymous` also removes the anonymous ones. */
    async removeContainer(id: string, withAnonymous: boolean): Promise<void> {
      await send({ method: "DELETE", path: container(id), query: { v: String(withAnonymous), force: "false" } });
    },
    async connectNetwork(network: string, id: string, endpoint: RawObject): Promise<void> {
      const path = flavour.paths.connectNetwork(encodeURIComponent(network));
      await send({ method: "POST", path, body: flavour.connectBody(id, endpoint) });
    },
    async disconnectNetwork(network: string, id: string): Promise<void> {
      const body = { Container: id, Force: false };
      await send({ method: "POST", path: `/networks/${encodeURIComponent(network)}/disconnect`, body });
    },
    /** Whether a volume of this name exists; null if a socket proxy forbids the request. */
    async hasVolume(name: string): Promise<boolean | null> {
      const found = await findOrNull(`/volumes/${encodeURIComponent(name)}`);
      return isObject(found) ? found.Name === name : found;
    },
    /** The same for a network, by its name or full ID; the engine would also accept a prefix of another network's ID. */
    async hasNetwork(nameOrId: string): Promise<boolean | null> {
      const found = await findOrNull(`/networks/${encodeURIComponent(nameOrId)}`);
      return isObject(found) ? isNetworkOf(found, nameOrId) : found;
    },
    /** The engine's own description; null if a socket proxy forbids the request. */
    async info(): Promise<RawObject | null> {
      const found = await findOrNull("/info");
      return found === false ? null : found;
    },
    /** What its writable layer adds to its image, without mounts. */
    changes: async (id: string) => (await read(v.nullable(v.array(FileChange)), `${container(id)}/changes`)) ?? [],
    /** What is at a path, without its content. Throws `not_found` if there is nothing. */
    async statPath(id: string, path: string): Promise<PathStat> {
      const request = { method: "HEAD", path: `${container(id)}/archive`, query: { path } } as const;
      const { status, pathStat = "" } = await send(request);
      const stat = v.safeParse(PathStat, tryBoundedJson(Buffer.from(pathStat, "base64").toString("utf8")));
      if (stat.success) return stat.output;
      throw new EngineError("malformed", say("engine.no_file_facts", { request: `HEAD ${request.path}` }), status);
    },
    /** A path as a tar archive of at most `maxBytes`. */
    async readArchive(id: string, path: string, maxBytes: number): Promise<Uint8Array> {
      const request = { method: "GET", path: `${container(id)}/archive`, query: { path }, maxBytes } as const;
      const { status, bytes } = await send(request);
      if (bytes !== undefined) return bytes;
      throw new EngineError("malformed", say("engine.no_archive", { request: `GET ${request.path}` }), status);
    },
    /** What a container wrote last, on both outputs, as the engine stores it. */
    async readLog(id: string, lines: number): Promise<Uint8Array> {
      const query = { stdout: "true", stderr: "true", tail: String(lines) };
      const request = { method: "GET", path: `${container(id)}/logs`, query, maxBytes: maxLogBytes } as const;
      const { bytes } = await send(request);
      return bytes ?? new Uint8Array();
    },
    /** The same with the time before each line, and by `follow` with what it writes until it ends or `signal` is aborted. */
    flowLog(id: string, reading: LogReading): AsyncGenerator<Uint8Array> {
      if (transport.flow === undefined) throw new Error("The transport does not pass logs on");
      const path = versioned(`${container(id)}/logs`);
      const request = { method: "GET", path, query: logQuery(reading), deadlineMs: deadlines.readMs } as const;
      return transport.flow(request, reading.signal, (response) => throwIfRefused(request, response));
    },
    /** Unpacks a tar archive over the container's root, with the owners that it names. */
    async writeArchive(id: string, archive: Uint8Array): Promise<void> {
      const query = { path: "/", noOverwriteDirNonDir: "1" };
      await send({ method: "PUT", path: `${container(id)}/archive`, query, archive });
    },
    /** Without intermediate layers; each with its names. */
    listImages: () => read(v.array(ImageSummary), "/images/json"),
    /** By name: removes the name, and the image with its last name. By ID: only an image with at most one name. */
    async removeImage(reference: string): Promise<void> {
      const path = `/images/${encodeReference(reference)}`;
      await send({ method: "DELETE", path, query: { force: "false", noprune: "false" } });
    },
    async tagImage(source: string, repository: string, tag: string): Promise<void> {
      const path = `/images/${encodeReference(flavour.qualify(source))}/tag`;
      await send({ method: "POST", path, query: { repo: flavour.qualify(repository), tag } });
    },
    /** `reference` by tag or by digest. An error inside the engine's stream is thrown like any other. */
    async pullImage(
      reference: string,
      platform: string | null,
      auth: RegistryAuth | null,
      onProgress: (progress: PullProgress) => void,
    ): Promise<void> {
      const { repository, tag, digest } = splitReference(flavour.qualify(reference));
      const query = {
        fromImage: repository,
        tag: digest ?? tag ?? "latest",
        ...(platform === null ? {} : { platform }),
      };
      const headers = auth === null ? {} : { "x-registry-auth": registryAuthHeader(auth) };
      const request = { method: "POST", path: versioned("/images/create"), query, headers } as const;
      const reader = pullReader(reference, onProgress);
      const response = await transport.stream(
        { ...request, deadlineMs: deadlines.pullIdleMs, totalMs: maxPullMs },
        reader.take,
      );
      if (response.status >= 500) throw pullFailure(reference, engineText(response));
      throwIfRefused(request, response);
      reader.end();
    },
    /** The raw response to any call, to find out which verbs a proxy allows. */
    probe: (request: Omit<EngineRequest, "deadlineMs">) =>
      transport.send({ ...request, path: versioned(request.path), deadlineMs: deadlines.readMs }),
    flavour,
  };
}

/**
 * Reads the engine's version and chooses an API version. `wanted` is the administrator's choice, null for the highest
 * that both support. Throws `rejected` with both ranges if there is none, or if the engine is of another flavour.
 */
export async function negotiate(
  transport: EngineTransport,
  wanted: string | null,
  deadlines: EngineDeadlines,
  flavour: Flavour,
): Promise<{ client: EngineClient; version: EngineVersion; api_version: string }> {
  const version = await versionOf(engineClient({ transport, apiVersion: null, deadlines, flavour }));
  requireFlavour(version, flavour);
  const engineApi = { min: version.MinAPIVersion ?? supportedApi.min, max: version.ApiVersion };
  const api = chooseApiVersion(engineApi.min, engineApi.max, wanted);
  return {
    client: engineClient({ transport, apiVersion: api, deadlines, flavour, engineApi }),
    version,
    api_version: api,
  };
}

/** Every engine has this, so what responds otherwise is something else. */
async function versionOf(client: Pick<EngineClient, "version">): Promise<EngineVersion> {
  try {
    return await client.version();
  } catch (error) {
    const isOther =
      error instanceof PluginError && (error.code === "not_found" || says(error.said, "engine.malformed"));
    if (!isOther) throw error;
    throw new PluginError("malformed", say("engine.other_service", { cause: error.said }), { cause: error });
  }
}

export function chooseApiVersion(engineMin: string, engineMax: string, wanted: string | null): string {
  const offered = { min: engineMin, max: engineMax };
  if (wanted !== null) {
    const isOffered = compareApi(wanted, engineMin) >= 0 && compareApi(wanted, engineMax) <= 0;
    if (isOffered && compareApi(wanted, supportedApi.min) >= 0) return wanted;
    throw new PluginError("rejected", say("engine.api_not_offered", { ...offered, wanted }));
  }
  const chosen = compareApi(engineMax, supportedApi.max) < 0 ? engineMax : supportedApi.max;
  if (compareApi(chosen, engineMin) >= 0 && compareApi(chosen, supportedApi.min) >= 0) return chosen;
  const own = { own_min: supportedApi.min, own_max: supportedApi.max };
  throw new PluginError("rejected", say("engine.api_not_shared", { ...offered, ...own }));
}

/** Negative if `left` is older than `right`, zero if they are equal, positive if it is newer. */
export function compareApi(left: string, right: string): number {
  const [leftMajor = 0, leftMinor = 0] = left.split(".").map(Number);
  const [rightMajor = 0, rightMinor = 0] = right.split(".").map(Number);
  return leftMajor - rightMajor || leftMinor - rightMinor;
}

function throwIfRefused(request: Pick<EngineRequest, "method" | "path">, response: EngineResponse): void {
  // 304: the container was already started or stopped.
  if (response.status < 300 || response.status === 304) return;
  const verb = `${request.method} ${request.path.replace(/^\/v[0-9.]+(?=\/)/, "")}`;
  const answer = engineText(response);
  const status = statusOf(request, response);
  const facts = { request: verb.slice(0, 200), status: response.status, answer: answer === "" ? null : answer };
  throw new EngineError(codeOf(status), say("engine.refused", facts), status, answer);
}

/** Podman reports an internal error if something is inspected while it is being removed. */
function statusOf({ method }: Pick<EngineRequest, "method">, response: EngineResponse): number {
  if (method !== "GET" || response.status !== 500) return response.status;
  return /\bno such (container|image|volume|network)\b/i.test(engineText(response)) ? 404 : 500;
}

/** IDs count from twelve digits on, as engines show them. */
function isNetworkOf({ Name: name, Id: id }: RawObject, text: string): boolean {
  return name === text || (text.length >= 12 && stringAt(id).startsWith(text));
}

function codeOf(status: number): PluginErrorCode {
  if (status === 401 || status === 403) return "unauthorized";
  if (status === 404) return "not_found";
  if (status === 429) return "rate_limited";
  // Sent by gateways and proxies, not by the engine.
  if (status === 502 || status === 503 || status === 504) return "unreachable";
  return "rejected";
}

/** The engine's `message`, or the visible text of a proxy's page; at most 500 characters, blank if there is neither. */
function engineText(response: EngineResponse): string {
  const answer = tryBoundedJson(response.text);
  if (isObject(answer) && typeof answer.message === "string") return answer.message.slice(0, 500);
  const visible = response.text
    .replace(/<[^>]{0,200}>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  return visible.slice(0, 500);
}

function parsed<S extends v.GenericSchema>(schema: S, label: string, response: EngineResponse): v.InferOutput<S> {
  const result = v.safeParse(schema, tryBoundedJson(response.text), { abortEarly: true });
  if (result.success) return result.output;
  throw malformed(label, response.text, response.status);
}

function judged<S extends v.GenericSchema>(schema: S, label: string, answer: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, answer, { abortEarly: true });
  if (result.success) return result.output;
  throw malformed(label, JSON.stringify(answer), null);
}

function malformed(label: string, text: string, status: number | null): EngineError {
  return new EngineError("malformed", say("engine.malformed", { request: label, start: text.slice(0, 120) }), status);
}

/** Slashes, colons and the at sign stay as they are, because proxies match on them; everything else is encoded. */
function encodeReference(reference: string): string {
  return reference
    .split("/")
    .map((part) => encodeURIComponent(part).replace(/%3A/g, ":").replace(/%40/g, "@"))
    .join("/");
}

function registryAuthHeader(auth: RegistryAuth): string {
  // Docker Hub is the one registry that engines know by an address instead of its host.
  const serveraddress = isSameRegistry(auth.host, "docker.io") ? "https://index.docker.io/v1/" : auth.host;
  const text = JSON.stringify({ username: auth.username, password: auth.password, serveraddress });
  // The engine reads URL-safe base64 and, before 20.10's successors, wants its padding.
  return Buffer.from(text).toString("base64").replace(/\+/g, "-").replace(/\//g, "_");
}
