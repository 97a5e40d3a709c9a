import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../src/clock.ts";
import { openDatabase } from "../src/db/client.ts";
import { settings } from "../src/db/tables.ts";
import { AppError, errorMessage, PluginError } from "../src/errors.ts";
import { toAppError } from "../src/http/respond-to-error.ts";
import { createGuard } from "../src/net/guarded-fetch.ts";
import { parseOutboundAllow } from "../src/net/outbound-allow.ts";
import { webhook } from "../src/notifiers/webhook.ts";
import { parseKeySet } from "../src/oidc/keys.ts";
import { providerDocuments } from "../src/oidc/provider-metadata.ts";
import { Refusal } from "../src/oidc/refusal.ts";
import { exchangeCode } from "../src/oidc/token-request.ts";
import { createUpstream } from "../src/oidc/upstream.ts";
import { http } from "../src/probes/http.ts";
import { tcp } from "../src/probes/tcp.ts";
import { dockerFlavour } from "../src/runtimes/docker/flavour.ts";
import { engineAddress } from "../src/runtimes/engine/address.ts";
import { engineClient } from "../src/runtimes/engine/client.ts";
import { openEngine } from "../src/runtimes/engine/session.ts";
import { engineTransport } from "../src/runtimes/engine/transport.ts";
import { portainer } from "../src/runtimes/portainer/index.ts";
import { createRedactor } from "../src/secrets/redaction.ts";
import { sources } from "../src/sources/index.ts";
import { sourceKinds } from "../src/sources/source.ts";
import { portainerAnswers } from "./runtimes/portainer/recorded-portainer.ts";
import { type HostileSample, hostileSamples } from "./sources/hostile-samples.ts";
import { ask } from "./sources/hostile-verbs.ts";
import { flavours } from "./support/engine-modes.ts";
import { fastClock } from "./support/fast-clock.ts";
import { hostileResponses } from "./support/hostile-responses.ts";
import { type AskedFor, hostileServer } from "./support/hostile-server.ts";
import { memoryJournal } from "./support/memory-journal.ts";
import { realHttp } from "./support/real-http.ts";

/** Where the stand-in of one case listens. */
interface Place {
  address: string;
  origin: string;
  port: number;
}

/** Everything that we ask of somebody else. A new client joins by one of these: the responses come from their own table. */
interface Client {
  name: string;
  listens: "tcp" | "unix";
  /** What is answered as it should be; everything else is hostile. */
  good?: (request: AskedFor, count: number) => { type: string; text: string | Uint8Array } | null;
  /** Asks, by a clock in which a minute is a second; whatever it throws must be an error of ours. */
  ask(place: Place, clock: Clock): Promise<unknown>;
}

const secret = "tdm-canary-5Kq9wZ2x7Lm4";
const signal = new AbortController().signal;
const self = { hostname: "tidemark", data_dir: "/nowhere" };
const deadlines = { readMs: 600, changeMs: 600, pullIdleMs: 600 };
const json = (value: unknown) => ({ type: "application/json", text: JSON.stringify(value) });

const version = (engine: string) => ({
  Version: engine === "podman" ? "5.0.0" : "29.0.0",
  ApiVersion: "1.41",
  MinAPIVersion: "1.24",
  Os: "linux",
  Arch: "amd64",
  Components: engine === "podman" ? [{ Name: "Podman Engine", Version: "5.0.0" }] : [{ Name: "Engine" }],
});

function engine(kind: "docker" | "podman", listens: "tcp" | "unix", isGreeted: boolean): Client {
  return {
    name: `${kind} over ${listens}${isGreeted ? ", after its version" : ""}`,
    listens,
    good: (request) => (isGreeted && request.path.startsWith("/version") ? json(version(kind)) : null),
    ask: async ({ address }, clock) => {
      await using session = await openEngine({
        flavour: flavours[kind],
        address: engineAddress(address, false, null),
        api_version: null,
        registry_auth: { username: "ci", password: secret, host: "docker.io" },
        context: { signal, clock, self },
        deadlines,
      });
      const ref = { kind: "container", id: "web" } as const;
      const verbs = [
        () => session.ping(),
        () => session.describe(),
        () => session.discover(),
        () => session.inspect(ref),
        () => session.plan(ref, []),
      ];
      await askEach(verbs);
    },
  };
}

/** All of them at once, though some fail. */
async function askEach(verbs: readonly (() => Promise<unknown>)[]): Promise<void> {
  const outcomes = await Promise.allSettled(verbs.map((verb) => verb()));
  for (const outcome of outcomes) if (outcome.status === "rejected") requireOurs(outcome.reason);
}

const pull: Client = {
  name: "a pull",
  listens: "unix",
  ask: async ({ address }) => {
    const transport = engineTransport(engineAddress(address, false, null), AbortSignal.timeout(3_000));
    const client = engineClient({ flavour: dockerFlavour, transport, apiVersion: "1.41", deadlines });
    const auth = { username: "ci", password: secret, host: "docker.io" };
    await client.pullImage("acme/app:1.0.0", null, auth, (progress) => {
      expect(Object.values(progress).every((each) => each === null || Number.isSafeInteger(each))).toBe(true);
    });
  },
};

/** A Portainer of one stack, which lies from the start, about its stacks' files and containers, or once it is to update. */
function stackManager(name: string, isGood: (line: string) => boolean): Client {
  const answers = portainerAnswers({ file: "services: {web: {image: acme/web:1.0.0}}", containers: [] });
  return {
    name: `a Portainer${name}`,
    listens: "tcp",
    good: ({ method, path }) => {
      const line = `${method} ${path.replace(/\?.*$/, "")}`;
      const found = isGood(line) ? answers(line) : undefined;
      return found === undefined ? null : json(found);
    },
    ask: async ({ origin }, clock) => {
      const fetch = () => Promise.reject(new Error("not asked for"));
      const config = { url: origin, endpoint_id: 1, update_stall_seconds: 10 };
      await using session = await portainer.open(config, { api_key: secret }, { fetch, signal, clock, self });
      const ref = { kind: "stack", id: "shop" };
      const change = {
        kind: "image",
        service: "web",
        reference: "acme/web:1.1.0",
        digest: null,
        image_config: null,
      } as const;
      const update = async () => {
        const { apply } = await session.prepare(await session.plan(ref, [change]), [], memoryJournal());
        await apply();
      };
      await askEach([
        () => session.ping(),
        () => session.describe(),
        () => session.discover(),
        () => session.inspect(ref),
        update,
      ]);
    },
  };
}

/** A source's first answers are good, so that the hostile one comes at each of its stages. */
function source(sample: HostileSample, kind: (typeof sourceKinds)[number], goodAnswers: number): Client {
  return {
    name: `${sample.name}${goodAnswers === 0 ? "" : `, after ${goodAnswers} good ${goodAnswers === 1 ? "answer" : "answers"}`}`,
    listens: "tcp",
    good: (request, count) => {
      if (count > goodAnswers) return null;
      const place = sample.route({ ...request, headers: { ...request.headers } });
      if (place === null) return null;
      return "text" in place ? place : json(sample.documents[place.document] ?? null);
    },
    ask: async ({ origin }, clock) => {
      const real = realHttp(clock);
      const { max_bytes } = sources[kind];
      const context = real.open({ credential_id: "c1", ...(max_bytes === undefined ? {} : { max_bytes }) });
      try {
        await sources[kind].open(sample.config(origin), sample.secret, context).listReleases(ask());
      } finally {
        real.close();
      }
    },
  };
}

const sourceClients = sourceKinds.flatMap((kind) =>
  hostileSamples[kind].flatMap((sample) => [0, 1, 2].map((good) => source(sample, kind, good))),
);

const identity = (clock: Clock, openContext = realHttp(clock).open) =>
  createUpstream({
    clock,
    openContext: (options) => openContext({ timeout_ms: options.timeout_ms, max_bytes: options.max_bytes }),
    isLoopbackHttpAllowed: true,
  });

const provider = (origin: string) => ({
  id: "p1",
  revision: 1,
  issuer_url: origin,
  is_discovery_enabled: true,
  authorization_url: null,
  token_url: null,
  jwks_url: null,
});

const identityClients: readonly Client[] = [
  {
    name: "a provider's discovery",
    listens: "tcp",
    ask: ({ origin }, clock) =>
      providerDocuments({ clock, upstream: identity(clock), isLoopbackHttpAllowed: true }).metadata(provider(origin)),
  },
  {
    name: "a provider's keys",
    listens: "tcp",
    ask: async ({ origin }, clock) => {
      const question = { init: {}, max_bytes: 256 * 1024, failure: "jwks_invalid" as const };
      parseKeySet(await identity(clock)({ ...question, url: `${origin}/keys` }));
    },
  },
  {
    name: "a provider's token endpoint",
    listens: "tcp",
    ask: ({ origin }, clock) =>
      exchangeCode(identity(clock), {
        metadata: {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          jwks_uri: `${origin}/keys`,
          algorithms: ["RS256"],
          client_authentication: "client_secret_post",
          is_iss_promised: false,
        },
        client_id: "tidemark",
        client_secret: secret,
        redirect_uri: "https://tidemark.test/callback",
        code: `${secret}-code`,
        code_verifier: "v".repeat(43),
      }),
  },
];

const guarded = (clock: Clock, port: number) =>
  createGuard({ clock, allow: parseOutboundAllow(`127.0.0.1:${port}`), resolve: async () => [] });

const guardedClients: readonly Client[] = [
  {
    name: "a webhook's receiver",
    listens: "tcp",
    ask: async ({ origin, port }, clock) => {
      const context = guarded(clock, port).open({ purpose: "webhook", timeout_ms: 10_000, signal });
      const config = { url: `${origin}/hooks/${secret}`, signing_secret: secret };
      await webhook.open(config, context).send({ id: "1", event: "test", sent_at: 0, body: { text: "Hello" } });
    },
  },
  {
    name: "an HTTP probe",
    listens: "tcp",
    ask: async ({ port }, clock) => {
      const context = guarded(clock, port).open({ purpose: "probe", timeout_ms: 10_000, signal });
      const config = {
        protocol: "http",
        host: "127.0.0.1",
        port,
        path: "/health",
        method: "GET",
        expected_body_pattern: "(a?){50}ready",
      };
      const connect = () => Promise.reject(new Error("not asked for"));
      const readiness = () => Promise.reject(new Error("not asked for"));
      await http.open(config, { ...context, connect, readiness }).attempt(signal);
    },
  },
  {
    name: "a TCP probe",
    listens: "tcp",
    ask: async ({ port }, clock) => {
      const guard = guarded(clock, port);
      const context = guard.open({ purpose: "probe", timeout_ms: 10_000, signal });
      const readiness = () => Promise.reject(new Error("not asked for"));
      await tcp.open({ host: "127.0.0.1", port }, { ...context, connect: guard.connect, readiness }).attempt(signal);
    },
  },
];

const database: Client = {
  name: "a database server",
  listens: "tcp",
  ask: async ({ origin }) => {
    const db = await openDatabase({ url: origin, auth_token: secret, answer_limit_ms: 600 });
    try {
      const verbs = [
        () => db.client.execute("SELECT 1"),
        () => db.client.batch(["SELECT 1", "SELECT 2"], "write"),
        async () => await db.read.select().from(settings),
        () => db.write(async (tx) => await tx.delete(settings)),
      ];
      // As whoever asked is told of it.
      const told = (error: unknown) => Promise.reject(toAppError(error, redactor.excerpt));
      await askEach(verbs.map((verb) => async () => await verb().catch(told)));
    } finally {
      await db.close();
    }
  },
};

const clients: readonly Client[] = [
  database,
  engine("docker", "unix", false),
  engine("docker", "tcp", false),
  engine("docker", "tcp", true),
  engine("podman", "unix", false),
  engine("podman", "unix", true),
  pull,
  stackManager("", () => false),
  stackManager(", after its stacks", (line) => line === "GET /api/stacks"),
  stackManager(", after everything but an update", (line) => line.startsWith("GET ")),
  ...sourceClients,
  ...identityClients,
  ...guardedClients,
];

const redactor = createRedactor();
redactor.register(secret);
const secretWords = [
  secret,
  ...sourceKinds.flatMap((kind) => hostileSamples[kind].flatMap((each) => each.secret_words)),
];
for (const word of secretWords) redactor.register(word);

/** An error that people can be shown: one of ours, without a secret, bounded, and every character of it visible. */
function requireOurs(error: unknown): void {
  if (!(error instanceof PluginError || error instanceof AppError || error instanceof Refusal)) throw error;
  const shown = redactor.excerpt(error.message);
  expect(shown.length).toBeLessThanOrEqual(500);
  expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
  for (const word of secretWords) expect(shown).not.toContain(word);
}

/** Far beyond every deadline of this suite; what is held longer is held for ever. */
const heldMs = 60_000;

async function settled(work: Promise<unknown>, name: string): Promise<void> {
  const held = Promise.withResolvers<never>();
  const timer = setTimeout(() => held.reject(new Error(`"${name}" still holds its client`)), heldMs);
  try {
    await Promise.race([work, held.promise]);
  } catch (error) {
    try {
      requireOurs(error);
    } catch (fault) {
      throw new Error(`Met with "${name}": ${errorMessage(fault)}`, { cause: fault });
    }
  } finally {
    clearTimeout(timer);
  }
}

/** So many cases at once: most of them wait. */
const atOnce = 48;

describe("a peer that lies", () => {
  test.each(clients.map((client) => [client.name, client] as const))(
    "as %s keeps nobody and leaks nothing",
    async (_name, client) => {
      const folder = mkdtempSync(join(tmpdir(), "tidemark-peers-"));
      const waiting = [...hostileResponses.entries()];
      const meet = async () => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          const [index, [name, play]] = next;
          const path = join(folder, `${index}.sock`);
          await using server = await hostileServer({
            play,
            ...(client.listens === "unix" ? { path } : {}),
            ...(client.good === undefined ? {} : { good: client.good }),
          });
          const { port } = server;
          const address = client.listens === "unix" ? `unix://${path}` : `tcp://127.0.0.1:${port}`;
          const place = { address, origin: `http://127.0.0.1:${port}`, port };
          // On a busy machine a deadline can pass before the connection is there.
          do await settled(client.ask(place, fastClock(20)), name);
          while (server.connections() === 0);
        }
      };
      try {
        await Promise.all(Array.from({ length: atOnce }, meet));
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
      expect(Object.keys(Object.prototype)).toEqual([]);
    },
    180_000,
  );

  test("has more ways than forty", () => {
    expect(new Set(hostileResponses.map(([name]) => name)).size).toBe(hostileResponses.length);
    expect(hostileResponses.length).toBeGreaterThan(40);
  });
});
