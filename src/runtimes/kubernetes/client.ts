import type { RequestContext } from "@kubernetes/client-node/dist/gen/http/http.js";
import * as v from "valibot";
import type { Clock } from "../../clock.ts";
import { PluginError, type PluginErrorCode } from "../../errors.ts";
import { type Message, plain, say } from "../../messages/message.ts";
import { parseBoundedJson } from "../../net/bounded-json.ts";
import { codeOfStatus } from "../../net/code-of-status.ts";
import type { Deadline } from "../../net/deadline.ts";
import { connectionFault, describeFailure } from "../../net/exchange.ts";
import { maxBodyBytes, openNamedServer } from "../../net/named-server.ts";
import type { Resolve } from "../../net/resolve.ts";
import type { ClusterAccess } from "./access.ts";

const requestMs = 30_000;
/** For logs, which come from the node of a pod, and that may be gone. */
const textMs = 4_000;
/** For logs that are followed; their readers end earlier. */
const flowMs = 3_600_000;
/** The API server closes a watch after this time. */
const watchSeconds = 240;
/** Objects per page of a list: few, because each page is in memory as text and as objects. */
const pageSize = 50;
/** Pages of one list; more means that the server never ends it. */
const maxPages = 2000;

export type Factories = Awaited<ReturnType<typeof loadFactories>>;
/** Composes a request with the factories of the Kubernetes client. */
type Compose = (api: Factories) => Promise<RequestContext>;

/** What the API server says of a request that it refused. */
const Status = v.object({
  message: v.optional(v.string(), ""),
  reason: v.optional(v.string(), ""),
  code: v.optional(v.number(), 0),
  /** `continue`: where an expired list continues, with the present state. */
  metadata: v.optional(v.object({ continue: v.optional(v.string(), "") }), {}),
});
const ListMeta = v.object({ continue: v.optional(v.string(), "") });
const WatchEvent = v.looseObject({ type: v.string(), object: v.looseObject({}) });

/** A refused request; `status` is the API server's. */
export class Refused extends PluginError {
  constructor(
    readonly status: number,
    /** `Conflict`, `Forbidden`, `Expired` …; blank if the response is not from an API server. */
    readonly reason: string,
    code: PluginErrorCode,
    said: PluginError["said"],
    /** Where an expired list continues, with the present state; blank if it does not. */
    readonly next = "",
  ) {
    super(code, said);
  }
}

export interface Watched {
  type: "ADDED" | "MODIFIED" | "DELETED";
  object: unknown;
}

/** Requests to one API server. Everything throws `PluginError`; a refusal by the server throws `Refused`. */
export interface Cluster {
  send<S extends v.GenericSchema>(compose: Compose, schema: S): Promise<v.InferOutput<S>>;
  /** A body with text of others: at most this many bytes from its start, in valid UTF-8, without our login. */
  text(compose: Compose, maxBytes: number): Promise<string>;
  /** Such a body as it arrives, for as long as it does. Ends without an error once `stop` is aborted. */
  flow(compose: Compose, stop: AbortSignal): AsyncGenerator<Uint8Array>;
  /** Removes our login, which a proxy in front of the API server may quote. */
  withoutLogin(text: string): string;
  /** A strategic merge patch in our name. */
  patch<S extends v.GenericSchema>(compose: Compose, schema: S): Promise<v.InferOutput<S>>;
  /** Reads a list page by page; `take` gets each page, and nothing else is kept. */
  list<S extends v.GenericSchema>(compose: Compose, item: S, take: (items: v.InferOutput<S>[]) => void): Promise<void>;
  /** Events after `resourceVersion` until the server ends the watch; `Refused` with 410 if the version is too old. */
  watch(compose: Compose, resourceVersion: string, signal: AbortSignal): AsyncGenerator<Watched>;
  close(): void;
}

/**
 * The generated client composes requests; our own transport sends them. The client's own transport loses the cluster's CA on Bun, and its
 * deserializers keep every object whole: schemas read only the members in use.
 */
async function loadFactories(server: URL) {
  const [
    { AppsV1ApiRequestFactory },
    { BatchV1ApiRequestFactory },
    { CoreV1ApiRequestFactory },
    auth,
    authz,
    version,
    servers,
    http,
  ] = await Promise.all([
    import("@kubernetes/client-node/dist/gen/apis/AppsV1Api.js"),
    import("@kubernetes/client-node/dist/gen/apis/BatchV1Api.js"),
    import("@kubernetes/client-node/dist/gen/apis/CoreV1Api.js"),
    import("@kubernetes/client-node/dist/gen/apis/AuthenticationV1Api.js"),
    import("@kubernetes/client-node/dist/gen/apis/AuthorizationV1Api.js"),
    import("@kubernetes/client-node/dist/gen/apis/VersionApi.js"),
    import("@kubernetes/client-node/dist/gen/servers.js"),
    import("@kubernetes/client-node/dist/gen/http/http.js"),
  ]);
  const configuration = {
    baseServer: new servers.ServerConfiguration(server.href.replace(/\/$/, ""), {}),
    httpApi: http.wrapHttpLibrary({ send: () => Promise.reject(new Error("The session sends requests")) }),
    middleware: [],
    authMethods: {},
  };
  return {
    apps: new AppsV1ApiRequestFactory(configuration),
    batch: new BatchV1ApiRequestFactory(configuration),
    core: new CoreV1ApiRequestFactory(configuration),
    authentication: new auth.AuthenticationV1ApiRequestFactory(configuration),
    authorization: new authz.AuthorizationV1ApiRequestFactory(configuration),
    version: new version.VersionApiRequestFactory(configuration),
  };
}

export interface ClusterOptions {
  clock: Clock;
  signal: AbortSignal;
  /** Default: the operating system's resolver. */
  resolve?: Resolve;
}

export function openCluster(access: ClusterAccess, { clock, signal, resolve }: ClusterOptions): Cluster {
  const { server } = access;
  const api = openNamedServer(server, {
    ...{ clock, signal, resolve },
    tls: {
      ...(access.ca === null ? {} : { ca: access.ca }),
      ...(access.cert === null ? {} : { cert: access.cert }),
      ...(access.key === null ? {} : { key: access.key }),
      ...(access.tls_server_name === null ? {} : { servername: access.tls_server_name }),
    },
    headers: () => (access.authorization === null ? {} : { authorization: access.authorization }),
    broken_off: say("kubernetes.broken_off"),
    refuse: (status, body, explain) => refusedBy(status, statusIn(body), access, explain),
    fail: (cause, deadline) => failureOf(cause, access, deadline),
  });
  let factories: Promise<Factories> | null = null;
  const composed = async (compose: Compose) => {
    await access.renew?.();
    factories ??= loadFactories(server);
    return await compose(await factories);
  };

  const toRequest = (context: RequestContext, timeout_ms: number) => {
    const body = context.getBody();
    return {
      method: context.getHttpMethod(),
      url: new URL(context.getUrl()),
      headers: context.getHeaders(),
      body: typeof body === "string" ? body : null,
      timeout_ms,
    };
  };
  const send: Cluster["send"] = async (compose, schema) =>
    await api.send(toRequest(await composed(compose), requestMs), schema);

  return {
    send,
    text: async (compose, maxBytes) => {
      const chunks = api.stream(toRequest(await composed(compose), textMs), signal);
      const pieces: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of chunks) {
        pieces.push(chunk.subarray(0, maxBytes - bytes));
        bytes += chunk.byteLength;
        if (bytes >= maxBytes) break;
      }
      return withoutLogin(new TextDecoder().decode(Buffer.concat(pieces)), access);
    },

    async *flow(compose, stop) {
      try {
        // On its own connection, because many are open for long.
        yield* api.stream({ ...toRequest(await composed(compose), flowMs), is_once: true }, stop);
      } catch (error) {
        if (!stop.aborted) throw error;
      }
    },
    withoutLogin: (text) => withoutLogin(text, access),

    patch: (compose, schema) =>
      send(async (api) => {
        const context = await compose(api);
        context.setHeaderParam("Content-Type", "application/strategic-merge-patch+json");
        context.setQueryParam("fieldManager", "tidemark");
        return context;
      }, schema),

    list: async (compose, item, take) => {
      const Page = v.object({ metadata: ListMeta, items: v.nullish(v.array(item), []) });
      let next = "";
      for (let page = 0; page < maxPages; page++) {
        const found = await send(async (api) => {
          const context = await compose(api);
          context.setQueryParam("limit", String(pageSize));
          if (next !== "") context.setQueryParam("continue", next);
          return context;
        }, Page).catch((error: unknown) => {
          // The pages behind show the cluster as it is now, and begin after the last name: nothing comes twice.
          if (!(error instanceof Refused && error.status === 410) || error.next === "") throw error;
          return { metadata: { continue: error.next }, items: [] };
        });
        take(found.items ?? []);
        next = found.metadata?.continue ?? "";
        if (next === "") return;
      }
      throw new PluginError("malformed", say("kubernetes.endless_list"));
    },

    async *watch(compose, resourceVersion, stop) {
      const context = await composed(compose);
      context.setQueryParam("watch", "true");
      context.setQueryParam("resourceVersion", resourceVersion);
      context.setQueryParam("timeoutSeconds", String(watchSeconds));
      context.setQueryParam("allowWatchBookmarks", "true");
      const chunks = api.stream(toRequest(context, (watchSeconds + 30) * 1000), stop);
      for await (const line of linesOf(chunks)) {
        const { type, object } = eventOf(line);
        if (type === "ERROR") {
          const status = v.safeParse(Status, object);
          throw refusedBy(status.success ? status.output.code : 0, status.success ? status.output : noStatus, access);
        }
        if (type === "ADDED" || type === "MODIFIED" || type === "DELETED") yield { type, object };
      }
    },
    close: api.close,
  };
}

/** What to do about a certificate; every other failure in the words of all requests. */
function failureOf(cause: unknown, { server, ca }: ClusterAccess, deadline: Deadline): PluginError {
  const { host } = server;
  const said = {
    "net.certificate_expired": say("kubernetes.certificate_expired", { host }),
    "net.certificate_for_another_name": say("kubernetes.certificate_misnamed", { host }),
    "net.certificate_self_signed": say("kubernetes.certificate_untrusted", { host, has_ca: ca !== null }),
    "net.certificate_untrusted": say("kubernetes.certificate_untrusted", { host, has_ca: ca !== null }),
  }[connectionFault(cause)?.code ?? ""];
  return said === undefined || deadline.isOver()
    ? describeFailure(cause, server, deadline).error
    : new PluginError("unreachable", said, { cause });
}

function refusedBy(
  status: number,
  { message, reason, metadata }: v.InferOutput<typeof Status>,
  access: ClusterAccess,
  /** A token is refused as expired or not valid yet, in whatever words. */
  explain: (reason: Message) => Message = (reason) => reason,
): Refused {
  const said = withoutLogin(message === "" ? reason : message, access).slice(0, 1000);
  const told =
    status === 401
      ? explain(say("kubernetes.unauthenticated"))
      : say("kubernetes.refused", { status, said: plain(said) });
  // The API server names a reason; a page that is not found without one is that of a proxy which does not reach it.
  const code = status === 404 && reason === "" ? "unreachable" : codeOfStatus(status);
  return new Refused(status, reason, code, told, metadata.continue);
}

/** A proxy in front of the API server may quote the request's headers. */
function withoutLogin(text: string, { authorization }: ClusterAccess): string {
  const login = authorization?.split(" ")[1] ?? "";
  return login === "" ? text : text.replaceAll(login, "***");
}

const noStatus = { message: "", reason: "", code: 0, metadata: { continue: "" } };

function statusIn(text: string): v.InferOutput<typeof Status> {
  try {
    return v.parse(Status, parseBoundedJson(text));
  } catch {
    return noStatus;
  }
}

function eventOf(line: string): v.InferOutput<typeof WatchEvent> {
  try {
    return v.parse(WatchEvent, parseBoundedJson(line));
  } catch (cause) {
    throw new PluginError("malformed", say("kubernetes.watch_unreadable"), { cause });
  }
}

/** Each piece is looked through once, so that a line which comes in many pieces costs no more than another. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let [pieces, length]: [string[], number] = [[], 0];
  for await (const chunk of chunks) {
    const [end = "", ...begun] = decoder.decode(chunk, { stream: true }).split("\n");
    pieces.push(end);
    length += end.length;
    if (length > maxBodyBytes) throw new PluginError("malformed", say("kubernetes.watch_unreadable"));
    for (const next of begun) {
      const line = pieces.join("");
      [pieces, length] = [[next], next.length];
      if (line !== "") yield line;
    }
  }
}
