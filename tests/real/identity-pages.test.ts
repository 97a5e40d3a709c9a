import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { openBrowser, type Person } from "../support/browser-person.ts";
import { peerSuite } from "../support/peer.ts";
import { type RunningServer, startServer, testPassword } from "../support/server.ts";

setDefaultTimeout(180_000);

const missing = chromiumMissing();

peerSuite("pages of identity, settings and notifiers in Chromium", missing, () => {
  let server: RunningServer;
  let person: Person;
  let page: Page;
  let receiver: ReturnType<typeof Bun.serve>;
  /** The server under a name that browsers do not trust as they trust loopback: plain http as in a private network. */
  let address: string;

  beforeAll(async () => {
    receiver = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("ok") });
    server = await startServer({ env: { OUTBOUND_ALLOW: `127.0.0.1:${receiver.port}` } });
    address = server.url.replace("127.0.0.1", "tidemark.test");
    person = await openBrowser(() => address, { args: ["--host-resolver-rules=MAP tidemark.test 127.0.0.1"] });
    ({ page } = person);
  });

  afterAll(async () => {
    await person?.close();
    await server?.kill("SIGTERM");
    await receiver?.stop(true);
  });

  test("signing in over plain http leads through the password change to where one wanted to go", async () => {
    await person.go("/notifiers");
    expect(new URL(page.url()).pathname).toBe("/login");
    await page.fill("#f-username", "admin");
    await page.keyboard.press("Tab");
    await page.keyboard.type("not the password");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#refusal");
    expect(await page.inputValue("#f-username")).toBe("admin");
    expect(await person.focused("id")).toBe("f-password");
    await page.keyboard.type(server.bootstrapPassword() ?? "");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/account/password");
    await page.fill("#f-current_password", server.bootstrapPassword() ?? "");
    await page.fill("#f-new_password", testPassword);
    await page.click("[data-reveal] >> nth=1");
    expect(await page.getAttribute("#f-new_password", "type")).toBe("text");
    await page.click("form.sign-in .btn.main");
    await page.waitForURL(`${address}/`);
    await person.go("/notifiers");
    expect(await page.textContent("h1")).toBe("Notifiers");
  });

  test("a notifier is made with errors shown at their fields, tested and seen", async () => {
    await page.click("text=Add notifier");
    await page.fill("#f-url", `http://127.0.0.1:${receiver.port}/hook`);
    await page.click(".form-actions .btn.main");
    await page.waitForSelector("[data-errors]");
    // What was typed is still there, the secret too, although the page never holds it.
    expect(await page.inputValue("#f-url")).toBe(`http://127.0.0.1:${receiver.port}/hook`);
    expect(await page.evaluate(() => document.activeElement?.hasAttribute("data-errors"))).toBe(true);
    await page.click(".error-summary a");
    await page.fill("#f-name", "Loopback");
    await page.click(".form-actions .btn.main");
    await page.waitForURL(/\/notifiers\/[0-9a-f-]{36}$/);
    await page.click("text=Send test");
    await page.locator("#toasts", { hasText: "Test message delivered (status 200)" }).waitFor();
    await page.locator("#deliveries .row", { hasText: "Delivered" }).waitFor();
  });

  test("a risky action asks in a dialog that Escape closes, and the verb does it", async () => {
    await page.click(".page-header [href$='/delete']");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog[open]", { state: "detached" });
    await page.click(".page-header [href$='/delete']");
    await page.waitForSelector("dialog[open]");
    await page.click("dialog .btn.danger");
    await page.waitForURL("**/notifiers");
    expect(await page.textContent("#toasts")).toContain("Deleted Loopback");
  });

  test("an API token is shown once in the form's place", async () => {
    await person.go("/account/tokens/new");
    await page.fill("#f-name", "script");
    await page.fill("#f-current_password", testPassword);
    await page.click(".form-actions .btn.main");
    const token = await page.textContent(".token .code code");
    expect(token).toMatch(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/);
    await person.go("/account");
    expect(await page.content()).not.toContain(String(token));
  });

  test("an ended session leaves an open page as it is; the next one leads to the sign-in and back, with its query", async () => {
    await person.go("/settings");
    await using tab = await person.tab();
    const other = tab.page;
    await tab.go("/settings");
    await other.click(".top .menu > summary");
    await other.click("text=Sign out");
    await other.waitForURL("**/login");
    await page.click(".form-actions .btn.main");
    await page.locator("#signed-out a", { hasText: "Sign in" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/settings");
    await person.go("/settings/audit?outcome=refused");
    await page.waitForURL("**/login?next=%2Fsettings%2Faudit%3Foutcome%3Drefused");
    await page.fill("#f-username", "admin");
    await page.fill("#f-password", testPassword);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/settings/audit?outcome=refused");
  });

  test("no page is wider than a phone or a desk, and none breaks the policy", async () => {
    const paths = ["/account", "/settings", "/settings/audit", "/notifiers", "/notifiers/new", "/none"];
    await person.expectFit([...paths, "/docs", "/docs/credentials"], [390, 1280]);
    expect(person.complaints).toEqual([]);
  });
});
