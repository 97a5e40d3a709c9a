import { randomUUID } from "node:crypto";
import { oidc_bindings, oidc_providers } from "../../src/db/tables.ts";
import type { RuntimeImages } from "../../src/runtimes/session.ts";
import { keyFilePath, writeKeyFile } from "../../src/secrets/keys.ts";
import { standIn } from "../oidc/stand-in.ts";
import { FakeEngine, fakeRuntime } from "../support/fake-runtime.ts";
import { addSurroundings } from "../support/surroundings.ts";
import { goodPassword, testApp } from "../support/test-app.ts";

/** An operation that changes something, with what it leaves in the audit. */
export interface Change {
  /** A whole path, ids in their places. */
  path: () => string | Promise<string>;
  method: string;
  body?: () => unknown;
  status: number;
  event: string;
  /** What it does on the way, as an entry of its own that comes before. */
  also?: readonly string[];
}

export const clientSecret = "client-secret of an audit";
const cookieName = "__Host-tidemark_oidc";
/** On the engine, used by no container. */
export const unusedImage = `sha256:${"b".repeat(64)}`;

/** An engine of images that no container uses; a removed one stays, because only the audit is looked at. */
const images: RuntimeImages = {
  keep: async () => undefined,
  findPresent: async (ids) => ids,
  listUnused: async () => [
    { id: unusedImage, references: [], size_bytes: 1, created_at: null, is_kept: true },
    {
      id: `sha256:${"c".repeat(64)}`,
      references: ["other.test/app:1"],
      size_bytes: 1,
      created_at: null,
      is_kept: false,
    },
  ],
  remove: async () => undefined,
};

/** The whole application with an identity provider, a key file and an engine beside it, and somebody signed in. */
export async function auditHouse() {
  const engine = new FakeEngine();
  const runtime = fakeRuntime(engine);
  const docker = {
    ...runtime,
    open: async (...parameters: Parameters<typeof runtime.open>) => ({
      ...(await runtime.open(...parameters)),
      images,
    }),
  };
  const app = await testApp({
    runtimes: { docker, podman: { ...docker, kind: "podman", title: "Podman" } },
    env: { BASE_URL: "https://tidemark.test", OIDC_ALLOW_LOOPBACK_HTTP: "true" },
  });
  const idp = await standIn({ now: () => app.clock.now(), client_secret: clientSecret });
  writeKeyFile(keyFilePath(app.services.places.data_dir), {
    format: 1,
    session: Buffer.from(app.keys.session).toString("base64url"),
    encryption: { primary: app.keys.encryption.primary },
  });
  await app.signedIn();
  let token = "";

  /** `bearer`: null for nobody; the session of whoever signed in last where it is left out. */
  const call = async (method: string, path: string, body?: unknown, bearer: string | null = token) => {
    const headers = {
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await app.send(`/api${path}`, { method, headers, ...content });
    const text = await answer.text();
    return { status: answer.status, body: text === "" ? {} : JSON.parse(text), headers: answer.headers };
  };
  const signIn = async (password: string): Promise<void> => {
    token = String((await call("POST", "/session", { username: "admin", password }, null)).body.token);
  };
  const made = async (path: string, body: unknown): Promise<string> => {
    const answer = await call("POST", path, body);
    if (answer.status !== 201)
      throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return String(answer.body.id ?? answer.body.name);
  };
  const entries = async () => (await app.services.audit_entries.list({ limit: 100 })).items;

  const provider = () => ({
    display_name: "Home",
    slug: "home",
    client_id: "tidemark",
    client_secret: clientSecret,
    issuer_url: idp.issuer,
  });
  /** Neither provider nor binding: there is room for one of each. */
  const withoutProvider = async (): Promise<void> =>
    await app.db.write(async (tx) => {
      await tx.delete(oidc_bindings);
      await tx.delete(oidc_providers);
    });
  const madeProvider = async (): Promise<string> => {
    await withoutProvider();
    return await made("/oidc-providers", provider());
  };
  /** What the provider sends back; of the browser that has the session and this cookie. */
  const back = async (query: Record<string, string>, browser: string | null, bearer: string | null = token) =>
    await app.send(`/auth/oidc/home/callback?${new URLSearchParams(query)}`, {
      headers: {
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        ...(browser === null ? {} : { cookie: `${cookieName}=${browser}` }),
      },
    });
  const cookieOf = (headers: Headers) => /=([^;]+)/.exec(headers.getSetCookie().join())?.[1] ?? "";
  /** Begins a binding; what the provider would send back, and the browser's cookie. */
  const begunBinding = async (id: string) => {
    const path = `/oidc-providers/${id}/admin-binding/authorize`;
    const { body, headers } = await call("POST", path, { current_password: goodPassword });
    return { query: idp.consent(String(body.authorization_url)), browser: cookieOf(headers) };
  };
  const begunLogin = async (sub: string) => {
    const { headers } = await app.send("/auth/oidc/home/start");
    return { query: idp.consent(String(headers.get("location")), { sub }), browser: cookieOf(headers) };
  };
  /** A provider that holds the binding; its id. */
  const madeBinding = async (): Promise<string> => {
    const id = await madeProvider();
    const { query, browser } = await begunBinding(id);
    const answer = await back(query, browser);
    if (answer.status !== 303) throw new Error(`The binding answered ${answer.status}`);
    return id;
  };

  await signIn(goodPassword);
  await addSurroundings(app);
  return {
    app,
    idp,
    engine,
    call,
    signIn,
    made,
    provider,
    withoutProvider,
    madeProvider,
    begunBinding,
    begunLogin,
    madeBinding,
    back,
    /** The entries that `work` has left, the newest first, and what it gave. */
    leftBy: async <T>(work: () => Promise<T>) => {
      await app.clock.advance(1);
      const before = new Set((await entries()).map((entry) => entry.id));
      const result = await work();
      return { result, left: (await entries()).filter((entry) => !before.has(entry.id)) };
    },
    madeConnection: () => {
      const id = randomUUID();
      return made("/runtime-connections", {
        name: `engine ${id}`,
        kind: "docker",
        config: { address: `fake://${id}` },
      });
    },
    close: async () => {
      await app.close();
      await idp.close();
    },
  };
}

export type AuditHouse = Awaited<ReturnType<typeof auditHouse>>;
