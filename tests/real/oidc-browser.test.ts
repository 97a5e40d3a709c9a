import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { type Authority, authorityMissing, createAuthority } from "../peers/authority.ts";
import { chromiumMissing, startChromium } from "../peers/chromium.ts";
import { freePort } from "../peers/free-port.ts";
import { giteaMissing } from "../peers/gitea.ts";
import type { IdentityAccount, IdentityOptions, IdentityProvider } from "../peers/identity.ts";
import { startCertifiedProvider } from "../peers/identity-certified.ts";
import { dexMissing, startDex } from "../peers/identity-dex.ts";
import { startGiteaIdentity } from "../peers/identity-gitea.ts";
import { passProvider } from "../support/identity-browser.ts";
import { peerSuite } from "../support/peer.ts";
import { type RunningServer, startServer, testPassword } from "../support/server.ts";
import { startTlsFront } from "../support/tls-front.ts";

const limit = 180_000;

interface Case {
  name: IdentityProvider["name"];
  missing: string | null;
  start(options: IdentityOptions): Promise<IdentityProvider>;
  /** Behind a front that ends TLS, so that cookies have their strict names; else plain http. */
  https: boolean;
  /** Below a path of a host; "" for a host of its own. */
  prefix: "" | "/tide";
  /** Its endpoints are typed in, instead of being discovered. */
  is_manual: boolean;
}

const cases: readonly Case[] = [
  { name: "oidc-provider", missing: null, start: startCertifiedProvider, https: false, prefix: "", is_manual: false },
  { name: "dex", missing: dexMissing(), start: startDex, https: true, prefix: "/tide", is_manual: false },
  { name: "gitea", missing: giteaMissing(), start: startGiteaIdentity, https: true, prefix: "", is_manual: true },
];

/** Only loopback: the providers' pages ask for fonts elsewhere, which nobody answers. */
const onlyLoopback =
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE tidemark.localhost";

/** What somebody reads off the provider's own page, or off its documentation. */
async function endpointsOf(provider: IdentityProvider, authority: Authority): Promise<readonly [string, string][]> {
  const address = `${provider.issuer}/.well-known/openid-configuration`;
  const answer = await fetch(address, { tls: { ca: authority.ca } });
  const { authorization_endpoint, token_endpoint, jwks_uri } = (await answer.json()) as Record<string, string>;
  return [
    ["authorization_url", authorization_endpoint ?? ""],
    ["token_url", token_endpoint ?? ""],
    ["jwks_url", jwks_uri ?? ""],
  ];
}

for (const each of cases) {
  const missing = each.missing ?? authorityMissing() ?? chromiumMissing();

  // What a person does with a sign-in provider, from the first look at the empty page to its end.
  peerSuite(`a sign-in provider in a browser: ${each.name}`, missing, () => {
    let authority: Authority;
    let server: RunningServer;
    let front: { stop(): Promise<void> } | null = null;
    let provider: IdentityProvider;
    let browser: Browser;
    let page: Page;
    let home: string;
    const contexts: BrowserContext[] = [];
    const complaints: string[] = [];

    const at = (path: string) => `${home}${path}`;
    const text = async (selector = "main") => (await page.textContent(selector)) ?? "";
    const field = (name: string) => page.locator(`[name="${name}"]`);
    /** Another browser as it were: nobody knows it, neither we nor the provider. */
    const freshPage = async (options: { javaScriptEnabled?: boolean } = {}) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-GB", ...options });
      contexts.push(context);
      const fresh = await context.newPage();
      fresh.setDefaultTimeout(60_000);
      fresh.on("console", (message) => {
        const isUsual = /^Failed to load resource|net::ERR_|Cross-Origin-Opener-Policy header has been ignored/;
        if (message.type() !== "error" || isUsual.test(message.text())) return;
        // The providers' own pages may complain about themselves.
        if (message.location().url.startsWith(home)) complaints.push(message.text());
      });
      return fresh;
    };
    const signInByPassword = async (on: Page, next = "/") => {
      await on.goto(at(`/login?next=${encodeURIComponent(next)}`));
      await on.fill("#f-username", "admin");
      await on.fill("#f-password", testPassword);
      await on.press("#f-password", "Enter");
      await on.waitForURL(at(next));
    };
    const sessionCookies = async (of: Page) =>
      (await of.context().cookies(home)).filter(({ name }) => name.includes("session"));
    /** At the provider and back; where it was refused, the log says why and the page does not. */
    const passTo = async (on: Page, person: IdentityAccount, path: string) => {
      await passProvider(on, provider, person, home);
      if (new URL(on.url()).pathname === `${each.prefix}${path}`) return;
      throw new Error(`${on.url()}: ${await on.textContent("main")}\n${server.lines.slice(-5).join("\n")}`);
    };
    const providerLink = (on: Page) => on.locator("a.btn.provider");

    beforeAll(async () => {
      authority = createAuthority();
      const port = await freePort();
      const frontPort = await freePort();
      home = `${each.https ? `https://tidemark.localhost:${frontPort}` : `http://127.0.0.1:${port}`}${each.prefix}`;
      server = await startServer({
        env: {
          PORT: String(port),
          BASE_URL: home,
          TRUSTED_PROXIES: "127.0.0.1",
          NODE_EXTRA_CA_CERTS: authority.ca_file,
        },
      });
      if (each.https)
        front = await startTlsFront({ authority, name: "tidemark.localhost", port: frontPort, target_port: port });
      provider = await each.start({ authority, redirect_uris: [at("/auth/oidc/house/callback")] });
      browser = await startChromium([onlyLoopback, `--ignore-certificate-errors-spki-list=${authority.pins()}`]);
      page = await freshPage();
    }, limit);
    afterAll(async () => {
      for (const context of contexts) await context.close();
      await browser?.close();
      await provider?.stop();
      await front?.stop();
      await server?.kill("SIGTERM");
      authority?.remove();
    }, limit);

    test(
      "is configured from an empty page that shows the callback URL",
      async () => {
        await page.goto(at("/login"));
        await page.fill("#f-username", "admin");
        await page.fill("#f-password", server.bootstrapPassword() ?? "");
        await page.press("#f-password", "Enter");
        await page.waitForURL("**/account/password");
        await page.fill("#f-current_password", server.bootstrapPassword() ?? "");
        await page.fill("#f-new_password", testPassword);
        await page.click("form.sign-in .btn.main");
        await page.waitForURL(at("/"));

        await page.goto(at("/settings"));
        await page.click(".tabs >> text=Sign-in provider");
        expect(await text(".empty")).toContain(at("/auth/oidc/home/callback"));
        await page.click(".empty .btn.main");
        await field("display_name").fill("The House");
        await field("slug").fill("house");
        await field("client_id").fill(provider.client_id);
        await field("client_secret").fill(provider.client_secret);
        await page.uncheck("#f-is_discovery_enabled");
        await page.waitForSelector("#f-token_url");
        if (each.is_manual) {
          for (const [name, address] of await endpointsOf(provider, authority)) await field(name).fill(address);
        } else {
          await page.check("#f-is_discovery_enabled");
          await page.waitForSelector("#f-token_url", { state: "detached" });
        }
        await field("issuer_url").fill(provider.issuer);
        await page.click(".form-actions .btn.main");
        await page.waitForURL(at("/settings/sign-in-provider"));
        const shown = await text();
        expect(shown).toContain("No account is bound yet");
        expect(shown).toContain(at("/auth/oidc/house/callback"));
        expect(shown).toContain(provider.issuer);
        expect(await page.content()).not.toContain(provider.client_secret);
      },
      limit,
    );

    test(
      "is not offered before an account is bound",
      async () => {
        const stranger = await freshPage();
        await stranger.goto(at("/login"));
        expect(await providerLink(stranger).count()).toBe(0);
        await stranger.goto(at("/auth/oidc/house/start"));
        expect(stranger.url()).toStartWith(`${home}/`);
        expect(await stranger.textContent("h1")).toContain("failed");
        expect(await sessionCookies(stranger)).toEqual([]);
      },
      limit,
    );

    test(
      "binds the account after the password and the provider's own sign-in",
      async () => {
        await page.goto(at("/account"));
        await page.click("#binding .btn");
        await page.waitForSelector("dialog[open] #f-current_password");
        await page.waitForFunction(() => document.activeElement?.id === "f-current_password");
        await page.keyboard.type("not the password");
        await page.keyboard.press("Enter");
        await page.waitForSelector("dialog[open] .field-error");
        expect(page.url()).toStartWith(at("/account"));
        await page.fill("#f-current_password", testPassword);
        await page.press("#f-current_password", "Enter");
        await page.waitForURL(`${new URL(provider.issuer).origin}/**`);
        await passTo(page, provider.people[0], "/account");
        const shown = await text("#binding");
        expect(shown).toContain("Bound");
        expect(shown).toContain(provider.issuer);
        expect(shown).toMatch(/Subject\S+/);
        expect(await page.textContent("#toasts")).toContain("bound");
      },
      limit,
    );

    test(
      "is switched off and on again while it is bound",
      async () => {
        await page.goto(at("/settings/sign-in-provider"));
        await page.click('form[action$="/disable"] button');
        await page.waitForSelector('form[action$="/enable"]');
        expect(await text()).toContain("Your account stays bound");
        await page.click('form[action$="/enable"] button');
        await page.waitForSelector('form[action$="/disable"]');
      },
      limit,
    );

    test(
      "refuses to be changed, deleted or bound again while it is bound",
      async () => {
        await page.goto(at("/settings/sign-in-provider"));
        expect(await text()).toContain("only disable and enable the provider");
        expect(await page.locator("main .section-header .btn").allTextContents()).toEqual(["Disable provider"]);
        await page.goto(at("/settings/sign-in-provider/edit"));
        await field("display_name").fill("Another name");
        const [changed] = await Promise.all([
          page.waitForResponse((answer) => answer.request().method() === "POST"),
          page.click(".form-actions .btn.main"),
        ]);
        expect(changed.status()).toBe(422);
        await page.waitForSelector("[data-errors]");
        expect(await text("[data-errors]")).toContain("binding");
        expect(await field("display_name").inputValue()).toBe("Another name");
        await page.goto(at("/settings/sign-in-provider/delete"));
        const [deleted] = await Promise.all([
          page.waitForResponse((answer) => answer.request().method() === "POST"),
          page.click(".confirm .btn.danger"),
        ]);
        expect(deleted.status()).toBe(409);
        await page.waitForSelector(".field-error");
        await page.goto(at("/account/binding/bind"));
        await page.fill("#f-current_password", testPassword);
        await page.press("#f-current_password", "Enter");
        await page.waitForSelector(".field-error");
        await page.goto(at("/settings/sign-in-provider"));
        expect(await text()).toContain("The House");
      },
      limit,
    );

    test(
      "signs the bound person in, to where one wanted to go",
      async () => {
        await page.click(".top .menu > summary");
        await page.click("text=Sign out");
        await page.waitForURL("**/login");
        expect(await sessionCookies(page)).toEqual([]);
        const other = await freshPage();
        await other.goto(at("/credentials"));
        expect(await providerLink(other).textContent()).toContain("Continue with The House");
        await providerLink(other).click();
        await passTo(other, provider.people[0], "/credentials");
        expect(await other.textContent("h1")).toBe("Credentials");
        const [cookie] = await sessionCookies(other);
        expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax", secure: each.https });
        // Only a cookie for all of a host may have that name.
        if (each.https) expect(cookie?.name).toStartWith(each.prefix === "" ? "__Host-" : "__Secure-");
        expect(cookie?.path).toBe(each.prefix === "" ? "/" : each.prefix);
      },
      limit,
    );

    test(
      "gives nobody else a session, and says to all of them the same",
      async () => {
        const stranger = await freshPage();
        await stranger.goto(at("/login"));
        await providerLink(stranger).click();
        await passProvider(stranger, provider, provider.people[1], home);
        // No code, no state: what the address bar shows, the history keeps.
        expect(stranger.url()).toBe(at("/auth/oidc/failed"));
        const shown = await stranger.textContent("main");
        expect(shown).toContain("failed");
        expect(shown).not.toContain(provider.people[1].login);
        expect(await sessionCookies(stranger)).toEqual([]);
        await stranger.goto(at("/settings/audit"));
        expect(stranger.url()).toStartWith(at("/login"));
        await signInByPassword(page, "/settings/audit?outcome=failed");
        expect(await text(".table tbody tr:first-child")).toContain("Reason: another account is bound");
      },
      limit,
    );

    test(
      "is unbound with the password, and then deleted",
      async () => {
        await page.goto(at("/account"));
        await page.click("#binding a.btn");
        await page.waitForSelector("dialog[open] #f-current_password");
        await page.fill("#f-current_password", testPassword);
        await page.press("#f-current_password", "Enter");
        await page.waitForFunction(() => document.querySelector("#toasts")?.textContent?.includes("Account unbound"));
        expect(await text("#binding")).toContain("Not bound");
        const stranger = await freshPage();
        await stranger.goto(at("/login"));
        expect(await providerLink(stranger).count()).toBe(0);
      },
      limit,
    );

    test(
      "binds and unbinds without script as well",
      async () => {
        const plain = await freshPage({ javaScriptEnabled: false });
        await signInByPassword(plain, "/account");
        await plain.click("#binding .btn");
        await plain.fill("#f-current_password", testPassword);
        await plain.click(".confirm .btn.main");
        await plain.click("main a.btn.main");
        await passTo(plain, provider.people[0], "/account");
        expect(await plain.textContent("#binding")).toContain("Bound");
        await plain.click("#binding a.btn");
        await plain.fill("#f-current_password", testPassword);
        await plain.click(".confirm .btn.danger");
        await plain.waitForURL(at("/account*"));
        expect(await plain.textContent("#binding")).toContain("Not bound");

        await page.goto(at("/settings/sign-in-provider"));
        await page.click("main .section-header >> text=Delete");
        await page.click("dialog[open] .btn.danger");
        await page.waitForSelector(".empty");
        expect(await page.textContent("#toasts")).toContain("Deleted The House");
      },
      limit,
    );

    test("never breaks the content security policy", () => {
      expect(complaints).toEqual([]);
    });
  });
}
