import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Authority, authorityMissing, createAuthority } from "../peers/authority.ts";
import { chromiumMissing } from "../peers/chromium.ts";
import { freePort } from "../peers/free-port.ts";
import { giteaMissing } from "../peers/gitea.ts";
import type { IdentityAccount, IdentityOptions, IdentityProvider } from "../peers/identity.ts";
import { startCertifiedProvider } from "../peers/identity-certified.ts";
import { dexMissing, startDex } from "../peers/identity-dex.ts";
import { startGiteaIdentity } from "../peers/identity-gitea.ts";
import { openBrowser, type Person, usualWhileAway } from "../support/browser-person.ts";
import { passProvider } from "../support/identity-browser.ts";
import { peerSuite } from "../support/peer.ts";
import { type RunningServer, startServer, testPassword } from "../support/server.ts";
import { startTlsFront } from "../support/tls-front.ts";

setDefaultTimeout(180_000);

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
    let person: Person;
    let page: Page;
    let home: string;

    const at = (path: string) => `${home}${path}`;
    const sessionCookies = async (of: Page) =>
      (await of.context().cookies(home)).filter(({ name }) => name.includes("session"));
    /** At the provider and back; where it was refused, the log says why and the page does not. */
    const passTo = async (on: Page, who: IdentityAccount, path: string) => {
      await passProvider(on, provider, who, home);
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
      const args = [onlyLoopback, `--ignore-certificate-errors-spki-list=${authority.pins()}`];
      person = await openBrowser(() => home, { args, usual: usualWhileAway });
      ({ page } = person);
    });
    afterAll(async () => {
      await person?.close();
      await provider?.stop();
      await front?.stop();
      await server?.kill("SIGTERM");
      authority?.remove();
    });

    test("is configured from an empty page that shows the callback URL", async () => {
      await person.signInFirst(server);

      await person.go("/settings");
      await page.click(".tabs >> text=Sign-in provider");
      expect(await person.text(".empty")).toContain(at("/auth/oidc/home/callback"));
      await page.click(".empty .btn.main");
      await person.fill("display_name", "The House");
      await person.fill("slug", "house");
      await person.fill("client_id", provider.client_id);
      await person.fill("client_secret", provider.client_secret);
      await page.uncheck("#f-is_discovery_enabled");
      await page.waitForSelector("#f-token_url");
      if (each.is_manual) {
        for (const [name, address] of await endpointsOf(provider, authority)) await person.field(name).fill(address);
      } else {
        await page.check("#f-is_discovery_enabled");
        await page.waitForSelector("#f-token_url", { state: "detached" });
      }
      await person.fill("issuer_url", provider.issuer);
      await page.click(".form-actions .btn.main");
      await page.waitForURL(at("/settings/sign-in-provider"));
      const shown = await person.text();
      expect(shown).toContain("No account is bound yet");
      expect(shown).toContain(at("/auth/oidc/house/callback"));
      expect(shown).toContain(provider.issuer);
      expect(await page.content()).not.toContain(provider.client_secret);
    });

    test("is not offered before an account is bound", async () => {
      await using visitor = await person.stranger();
      const stranger = visitor.page;
      await visitor.go("/login");
      expect(await providerLink(stranger).count()).toBe(0);
      await visitor.go("/auth/oidc/house/start");
      expect(stranger.url()).toStartWith(`${home}/`);
      expect(await stranger.textContent("h1")).toContain("failed");
      expect(await sessionCookies(stranger)).toEqual([]);
    });

    test("binds the account after the password and the provider's own sign-in", async () => {
      await person.go("/account");
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
      const shown = await person.text("#binding");
      expect(shown).toContain("Bound");
      expect(shown).toContain(provider.issuer);
      expect(shown).toMatch(/Subject\S+/);
      expect(await page.textContent("#toasts")).toContain("bound");
    });

    test("is switched off and on again while it is bound", async () => {
      await person.go("/settings/sign-in-provider");
      await page.click('form[action$="/disable"] button');
      await page.waitForSelector('form[action$="/enable"]');
      expect(await person.text()).toContain("Your account stays bound");
      await page.click('form[action$="/enable"] button');
      await page.waitForSelector('form[action$="/disable"]');
    });

    test("offers neither form nor deletion, and refuses to be bound again, while it is bound", async () => {
      await person.go("/settings/sign-in-provider");
      expect(await person.text()).toContain("To edit or delete it, unbind your account first");
      expect(await page.locator("main .section-header .btn").allTextContents()).toEqual(["Disable provider"]);
      await person.go("/settings/sign-in-provider/edit");
      expect(await person.text()).toContain("The House cannot be edited");
      expect(await page.locator("main form").count()).toBe(0);
      await person.go("/settings/sign-in-provider/delete");
      expect(await person.text()).toContain("The House cannot be deleted");
      expect(await page.locator("main form").count()).toBe(0);
      await person.go("/account/binding/bind");
      await page.fill("#f-current_password", testPassword);
      await page.press("#f-current_password", "Enter");
      await page.waitForSelector(".field-error");
      await person.go("/settings/sign-in-provider");
      expect(await person.text()).toContain("The House");
    });

    test("signs the bound person in, to where one wanted to go", async () => {
      await page.click(".top .menu > summary");
      await page.click("text=Sign out");
      await page.waitForURL("**/login");
      expect(await sessionCookies(page)).toEqual([]);
      await using visitor = await person.stranger();
      const other = visitor.page;
      await visitor.go("/credentials");
      expect(await providerLink(other).textContent()).toContain("Continue with The House");
      await providerLink(other).click();
      await passTo(other, provider.people[0], "/credentials");
      expect(await other.textContent("h1")).toBe("Credentials");
      const [cookie] = await sessionCookies(other);
      expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax", secure: each.https });
      // Only a cookie for all of a host may have that name.
      if (each.https) expect(cookie?.name).toStartWith(each.prefix === "" ? "__Host-" : "__Secure-");
      expect(cookie?.path).toBe(each.prefix === "" ? "/" : each.prefix);
    });

    test("gives nobody else a session, and says to all of them the same", async () => {
      await using visitor = await person.stranger();
      const stranger = visitor.page;
      await visitor.go("/login");
      await providerLink(stranger).click();
      await passProvider(stranger, provider, provider.people[1], home);
      // No code, no state: what the address bar shows, the history keeps.
      expect(stranger.url()).toBe(at("/auth/oidc/failed"));
      const shown = await stranger.textContent("main");
      expect(shown).toContain("failed");
      expect(shown).not.toContain(provider.people[1].login);
      expect(await sessionCookies(stranger)).toEqual([]);
      await visitor.go("/settings/audit");
      expect(stranger.url()).toStartWith(at("/login"));
      await person.signIn("/settings/audit?outcome=failed");
      expect(await person.text(".table tbody tr:first-child")).toContain("Reason: another account is bound");
    });

    test("is unbound with the password, and then deleted", async () => {
      await person.go("/account");
      await page.click("#binding a.btn");
      await page.waitForSelector("dialog[open] #f-current_password");
      await page.fill("#f-current_password", testPassword);
      await page.press("#f-current_password", "Enter");
      await person.untilText("#toasts", "Account unbound");
      expect(await person.text("#binding")).toContain("Not bound");
      await using visitor = await person.stranger();
      const stranger = visitor.page;
      await visitor.go("/login");
      expect(await providerLink(stranger).count()).toBe(0);
    });

    test("binds and unbinds without script as well", async () => {
      await using visitor = await person.stranger({ javaScriptEnabled: false });
      const plain = visitor.page;
      await visitor.signIn("/account");
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

      await person.go("/settings/sign-in-provider");
      await page.click("main .section-header >> text=Delete");
      await page.click("dialog[open] .btn.danger");
      await page.waitForSelector(".empty");
      expect(await page.textContent("#toasts")).toContain("Deleted The House");
    });

    test("never breaks the content security policy", () => {
      // The providers' own pages may complain about themselves.
      expect(person.complaints.filter((each) => each.startsWith(home))).toEqual([]);
    });
  });
}
