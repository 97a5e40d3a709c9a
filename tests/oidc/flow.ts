import { type Browser, goodPassword, type TestApp, testApp } from "../support/test-app.ts";
import { standIn } from "./stand-in.ts";

export const baseUrl = "https://tidemark.test";
export const clientSecret = "client-secret canary:1";
export const cookieName = "__Host-tidemark_oidc";

type Answer = Awaited<ReturnType<Browser["get"]>>;

/** The application with a provider beside it that keeps the rules, a signed-in administrator, and nothing configured yet. */
export async function oidcHouse(env: Readonly<Record<string, string>> = {}) {
  const app: TestApp = await testApp({ env: { BASE_URL: baseUrl, OIDC_ALLOW_LOOPBACK_HTTP: "true", ...env } });
  const idp = await standIn({ now: () => app.clock.now(), client_secret: clientSecret });
  const person = await app.signedIn();

  const input = (changes: Record<string, unknown> = {}) => ({
    display_name: "Home",
    slug: "home",
    client_id: "tide:mark",
    client_secret: clientSecret,
    issuer_url: idp.issuer,
    ...changes,
  });
  const configure = async (changes: Record<string, unknown> = {}): Promise<string> => {
    const created = await person.api("POST", "/oidc-providers", input(changes));
    if (created.status !== 201) throw new Error(`The provider was refused: ${JSON.stringify(created.body)}`);
    return String(created.body.id);
  };
  /** Starts a binding in the browser's own session. */
  const authorize = async (browser: Browser, id: string, password = goodPassword) => {
    const answer = await app.send(`/api/oidc-providers/${id}/admin-binding/authorize`, {
      method: "POST",
      headers: {
        cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        origin: app.origin,
        "sec-fetch-site": "same-origin",
        "content-type": "application/json",
      },
      body: JSON.stringify({ current_password: password }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [name = "", value = ""] = (line.split(";")[0] ?? "").split(/=(.*)/s, 2);
      browser.cookies.set(name, value);
    }
    const body = (await answer.json()) as { authorization_url: string; error?: { code: string } };
    return { status: answer.status, body };
  };
  /** What the provider sends back, as a browser sees the end of it: a refusal is told by the page that it is led to. */
  const back = async (browser: Browser, query: Record<string, string> | string, slug = "home"): Promise<Answer> => {
    const search = typeof query === "string" ? query : String(new URLSearchParams(query));
    const answer = await browser.get(`/auth/oidc/${slug}/callback?${search}`);
    return answer.location?.startsWith("/auth/oidc/failed") === true ? await browser.get(answer.location) : answer;
  };
  /** Binds the administrator to `sub`; returns the provider's id. */
  const bind = async (sub = "person-1", changes: Record<string, unknown> = {}): Promise<string> => {
    const id = await configure(changes);
    const started = await authorize(person, id);
    const answer = await back(person, idp.consent(started.body.authorization_url, { sub }));
    if (answer.location !== "/account") throw new Error(`The binding was refused: ${answer.status}`);
    return id;
  };
  const start = async (browser: Browser, path = "/auth/oidc/home/start"): Promise<string> => {
    const answer = await browser.get(path);
    if (answer.location === null) throw new Error(`The sign-in was not begun: ${answer.status}`);
    return answer.location;
  };
  /** Lets nobody have the discovery document before `goOn`; `asked` says that somebody waits for it. */
  const heldDiscovery = () => {
    const asked = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const path = "/.well-known/openid-configuration";
    idp.answer(path, async (request, response) => {
      asked.resolve();
      await held.promise;
      idp.answer(path, null);
      await idp.serve(request, response);
    });
    return { asked: asked.promise, goOn: held.resolve };
  };
  const lastAudit = async (): Promise<Record<string, unknown>> => {
    const { items } = await app.services.audit_entries.list({ limit: 1 });
    return { event: items[0]?.event, outcome: items[0]?.outcome, ...items[0]?.detail };
  };
  const isSignedIn = async (browser: Browser) => (await browser.get("/")).status === 200;

  return {
    app,
    idp,
    person,
    input,
    configure,
    authorize,
    back,
    bind,
    start,
    heldDiscovery,
    lastAudit,
    isSignedIn,
    auditCount: async () => (await app.services.audit_entries.list({ limit: 100 })).items.length,
    close: async () => {
      await app.close();
      await idp.close();
    },
  };
}

export type OidcHouse = Awaited<ReturnType<typeof oidcHouse>>;
