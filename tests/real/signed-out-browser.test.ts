import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { browsedApp } from "../support/browsed-app.ts";
import { peerSuite } from "../support/peer.ts";
import { goodPassword, type TestApp, testApp } from "../support/test-app.ts";

setDefaultTimeout(120_000);

peerSuite("a form whose session ends, in Chromium", chromiumMissing(), () => {
  let app: TestApp;
  let browsed: Awaited<ReturnType<typeof browsedApp>>;
  let page: Page;

  beforeAll(async () => {
    app = await testApp();
    await app.signedIn();
    browsed = await browsedApp(app);
    page = browsed.page;
  });
  afterAll(async () => {
    await browsed?.close();
    await app?.close();
  });

  const signIn = async (tab: Page) => {
    await tab.fill("[name=username]", "admin");
    await tab.fill("[name=password]", goodPassword);
    await tab.keyboard.press("Enter");
  };
  const line = (text: string) => page.locator("#signed-out", { hasText: text });
  const save = () => page.click(".form-actions [name=_action][value=save]");
  const secret = "a secret of a registry";

  beforeEach(async () => {
    await page.goto("/credentials/new");
    if (page.url().includes("/login")) {
      await signIn(page);
      await page.waitForURL("**/credentials/new");
    }
    await page.fill("[name=name]", "typed");
    await page.fill("[name='secret.username']", "someone");
    await page.fill("[name='secret.password']", secret);
    const other = await browsed.context.newPage();
    await other.goto("/account");
    await other.locator("form[action='/logout']").evaluate((form: HTMLFormElement) => form.requestSubmit());
    await other.waitForURL("**/login");
    await other.close();
  });

  test("keeps what was typed, and can be sent after signing in in another tab", async () => {
    await save();
    await line("You are signed out").waitFor();
    // Nor does it go by what the form asks by itself.
    const kind = await page.inputValue("[name=kind]");
    await page.selectOption("[name=kind]", "helm");
    await page.locator("form:not([data-busy])#credential-form").waitFor();
    expect(await page.inputValue("[name=name]")).toBe("typed");
    expect(await page.inputValue("[name='secret.password']")).toBe(secret);
    expect(page.url()).toEndWith("/credentials/new");
    await page.selectOption("[name=kind]", kind);

    const opened = browsed.context.waitForEvent("page");
    await page.click("#signed-out a");
    const tab = await opened;
    await tab.locator(".lead", { hasText: "go back to the tab you came from" }).waitFor();
    await signIn(tab);
    await tab.waitForURL("**/account/signed-in");
    await tab.close();

    // What a browser reports when a tab is shown again.
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await line("You are signed in again").waitFor();
    expect(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))).not.toContain(
      "typed",
    );
    await save();
    await page.waitForURL(/\/credentials$/);
    await page.locator("main", { hasText: "typed" }).waitFor();
    const { items } = await app.services.credentials.list({});
    expect(items.map(({ name }) => name)).toEqual(["typed"]);
  });

  test("is told why where it was sent without script, and comes back to its page", async () => {
    const bare = await browsed.context.browser()?.newContext({ javaScriptEnabled: false, baseURL: app.origin });
    const tab = await bare?.newPage();
    if (tab === undefined) throw new Error("no browser");
    await tab.goto("/credentials/new");
    await tab.locator(".lead", { hasText: "Sign in to open the page you requested" }).waitFor();
    await signIn(tab);
    await tab.waitForURL("**/credentials/new");
    await tab.fill("[name=name]", "without script");
    await bare?.clearCookies();
    await tab.click(".form-actions [name=_action][value=save]");
    await tab.locator(".lead", { hasText: "your last action was not carried out" }).waitFor();
    await signIn(tab);
    await tab.waitForURL("**/credentials/new");
    await bare?.close();
  });
});
