import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { bootstrapAdministrator } from "../../src/auth/bootstrap.ts";
import { type Config, readConfig } from "../../src/config.ts";
import { createApp } from "../../src/http/app.ts";
import { loadAssets, packagedFiles } from "../../src/http/assets.ts";
import { createDoor } from "../../src/http/door.ts";
import { newId } from "../../src/ids.ts";
import { parseOutboundAllow } from "../../src/net/outbound-allow.ts";
import type { Runtimes } from "../../src/runtimes/runtime.ts";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import type { Keys } from "../../src/secrets/keys.ts";
import { createPasswords } from "../../src/secrets/password.ts";
import { createRedactor } from "../../src/secrets/redaction.ts";
import { createServices } from "../../src/services.ts";
import { temporaryGround } from "./ground.ts";
import type { TemporaryDatabase } from "./temporary-database.ts";

const testOrigin = "http://tidemark.test";
export const goodPassword = "kelp-otter-lantern";

const root = join(import.meta.dir, "../..");

let loaded: ReturnType<typeof loadAssets> | null = null;
/** Once a process: compressing the files takes longer than most tests. */
function assets() {
  loaded ??= loadAssets(join(root, "public"), packagedFiles);
  return loaded;
}

interface TestAppOptions {
  /** Environment variables: `BASE_URL`, `OUTBOUND_ALLOW`, … */
  env?: Readonly<Record<string, string>>;
  /** What connections lead to; the real ones where it is left out. */
  runtimes?: Runtimes;
  /** The application that was stopped: this is the next process on its data, whose clock shows `at`. */
  after?: { app: { temporary: TemporaryDatabase; keys: Keys }; at: number };
}

/** What a test's browser sends; `body` as an object becomes a form, with the form token when there is one. */
interface PageRequest {
  headers?: Readonly<Record<string, string>>;
  /** As htmx would ask. */
  htmx?: boolean;
}

export type FormFields = Readonly<Record<string, FormValue | readonly FormValue[]>>;
type FormValue = string | File;

/**
 * The whole application, all services and both surfaces, over a database file of its own, with a clock that stands still
 * and cheap password hashes. Nothing listens: requests go through `app.request`.
 */
export async function testApp(options: TestAppOptions = {}) {
  const redactor = createRedactor();
  const keys: Keys = options.after?.app.keys ?? {
    session: randomBytes(32),
    encryption: { primary: generateFernetKey(), previous: [] },
    managed_by_environment: { session: false, encryption: false },
  };
  const { db, dir, close, clock, lines, log, audit, sealer } = await temporaryGround({
    temporary: options.after?.app.temporary,
    at: options.after?.at,
    level: "info",
    redact: redactor.redact,
    keys: keys.encryption,
    onOpen: redactor.register,
  });
  const config: Config = readConfig({ DATA_DIR: dir, ...options.env });
  const passwords = await createPasswords({ memory_kib: 64, passes: 1 });
  await bootstrapAdministrator({ db, clock, log, audit, passwords });
  const services = await createServices({
    config,
    db,
    clock,
    log,
    sealer,
    keys,
    passwords,
    redactor,
    outboundAllow: parseOutboundAllow(config.outbound_allow),
    instance_id: options.after === undefined ? "test" : newId(clock.now()),
    ...(options.runtimes === undefined ? {} : { runtimes: options.runtimes }),
  });
  const door = createDoor(clock);
  const app = createApp({ services, assets: assets(), door, log, version: "0.0.0-test", excerpt: redactor.excerpt });
  const origin = config.base_url === null ? testOrigin : new URL(config.base_url).origin;
  const peer = { peer_address: "198.51.100.7" };
  const send = async (path: string, init: RequestInit = {}) => await app.request(`${origin}${path}`, init, peer);
  const bootstrapPassword = () =>
    lines
      .find((line) => line.includes("bootstrap password"))
      ?.split(" ")
      .at(-1) ?? "";

  return {
    app,
    door,
    services,
    temporary: { db, dir, close },
    db,
    clock,
    sealer,
    keys,
    lines,
    origin,
    bootstrapPassword,
    close: async () => {
      await services.stop();
      await close();
    },
    send,
    browser: () => browser(send, origin),
    /** Signed in with the password changed: what nearly every page test begins with. */
    signedIn: async () => {
      const person = browser(send, origin);
      await person.post("/login", { username: "admin", password: bootstrapPassword() });
      await person.post("/account/password", {
        current_password: bootstrapPassword(),
        new_password: goodPassword,
      });
      return { ...person, api: apiOf(send, await tokenOf(send, goodPassword)) };
    },
  };
}

export type TestApp = Awaited<ReturnType<typeof testApp>>;
type Send = (path: string, init?: RequestInit) => Promise<Response>;

async function tokenOf(send: Send, password: string): Promise<string> {
  const answer = await send("/api/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password }),
  });
  const { token } = (await answer.json()) as { token: string };
  return token;
}

/** Speaks JSON with a Bearer token, as a program does. */
function apiOf(send: Send, token: string) {
  return async (method: string, path: string, body?: unknown) => {
    const answer = await send(`/api${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      body: (text === "" ? {} : JSON.parse(text)) as Record<string, never>,
      headers: answer.headers,
    };
  };
}

/** Keeps cookies and takes the form token from the pages that it saw, as a browser with one tab does. */
function browser(send: Send, origin: string) {
  const cookies = new Map<string, string>();
  let formToken = "";

  const go = async (method: string, path: string, body: FormData | undefined, request: PageRequest) => {
    const answer = await send(path, {
      method,
      headers: {
        ...(cookies.size === 0 ? {} : { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") }),
        ...(method === "GET" ? {} : { origin, "sec-fetch-site": "same-origin" }),
        ...(request.htmx ? { "hx-request": "true", "hx-current-url": `${origin}/` } : {}),
        ...request.headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split("; ");
      const [name = "", value = ""] = pair.split(/=(.*)/s, 2);
      // A form token belongs to one session.
      if (name.includes("session") && cookies.get(name) !== value) formToken = "";
      if (attributes.includes("Max-Age=0")) cookies.delete(name);
      else cookies.set(name, value);
    }
    const text = await answer.text();
    formToken = /name="csrf_token" value="([^"]+)"/.exec(text)?.[1] ?? formToken;
    return { status: answer.status, text, headers: answer.headers, location: answer.headers.get("location") };
  };
  return {
    cookies,
    get: (path: string, request: PageRequest = {}) => go("GET", path, undefined, request),
    /** Sends a form. Without having seen a page yet it first asks for one, to get the form token. */
    post: async (path: string, fields: FormFields = {}, request: PageRequest = {}) => {
      if (formToken === "" && cookies.size > 0) await go("GET", "/account/password", undefined, {});
      const form = new FormData();
      form.set("csrf_token", formToken);
      for (const [name, value] of Object.entries(fields)) {
        for (const item of [value].flat()) form.append(name, item);
      }
      return await go("POST", path, form, request);
    },
  };
}

export type Browser = ReturnType<typeof browser>;
