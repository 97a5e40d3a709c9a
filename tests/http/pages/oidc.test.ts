import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { oidc_bindings } from "../../../src/db/tables.ts";
import { goodPassword, type TestApp, testApp } from "../../support/test-app.ts";

const path = "/settings/sign-in-provider";
const languages = ["en", "zh-CN,zh;q=0.9"] as const;
const provider = {
  display_name: "The House",
  slug: "house",
  client_id: "tidemark",
  client_secret: "a-secret-of-the-provider",
  is_discovery_enabled: "on",
  issuer_url: "https://id.example.org",
  scopes: "openid email",
  icon_url: "",
  description: "",
  is_enabled: "on",
};
const bound = { issuer: "https://id.example.org", subject: "subject-1" };

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
beforeAll(async () => {
  app = await testApp({ env: { BASE_URL: "https://tidemark.test/tide" } });
  person = await app.signedIn();
});
afterAll(() => app.close());

async function bind(): Promise<void> {
  const { id: administrator_id } = await app.services.auth.account();
  const { items } = await app.services.oidc.list({});
  await app.db.write((tx) =>
    tx
      .insert(oidc_bindings)
      .values({ ...bound, provider_id: items[0]?.id ?? "", administrator_id, bound_at: app.clock.now() }),
  );
}

describe("without a provider", () => {
  test.each(languages)("teaches what it is for and which callback URL it needs, in %s", async (language) => {
    const page = await person.get(path, { headers: { "accept-language": language } });
    expect(page.status).toBe(200);
    expect(page.text).toContain("https://tidemark.test/tide/auth/oidc/home/callback");
    expect(page.text).toContain(`href="/tide${path}/new"`);
    expect(page.text).not.toMatch(/ (style|on\w+)="|\[object |>undefined/);
  });

  test.each([`${path}/edit`, `${path}/delete`])("%s leads to the page that says so", async (each) => {
    expect((await person.get(each)).location).toBe(`/tide${path}`);
  });

  test.each(["enable", "disable"])("%s leads to the page that says so", async (verb) => {
    expect((await person.post(`${path}/${verb}`)).location).toBe(`/tide${path}`);
  });

  test.each(["bind", "unbind"])("%s leads to the account", async (kind) => {
    expect((await person.get(`/account/binding/${kind}`)).location).toBe("/tide/account#binding");
    const answer = await person.post(`/account/binding/${kind}`, { current_password: goodPassword });
    expect(answer.location).toBe("/tide/account#binding");
  });

  test("the account names it and the sign-in page has no button", async () => {
    expect((await person.get("/account")).text).toContain("No sign-in provider is configured");
    expect((await app.browser().get("/login")).text).not.toContain("/auth/oidc/");
  });
});

describe("the form", () => {
  test("asks for endpoints only without discovery, also without script", async () => {
    const page = await person.get(`${path}/new`);
    expect(page.text).not.toContain('name="token_url"');
    // The button that draws the form again where no script does it.
    expect(page.text).toMatch(/class="unscripted"[^<]*>\s*<button[^>]*value="redraw"/);
    const { is_discovery_enabled: _off, ...manual } = provider;
    const redrawn = await person.post(path, { ...manual, _action: "redraw" });
    expect(redrawn.status).toBe(200);
    expect(redrawn.text).toContain('name="token_url"');
    expect(redrawn.text).toContain('name="jwks_url"');
    expect(redrawn.text).toContain("https://tidemark.test/tide/auth/oidc/house/callback");
    expect(redrawn.text).not.toContain(provider.client_secret);
    const refused = await person.post(path, manual);
    expect(refused.status).toBe(422);
    expect(refused.text).toContain("This address is required without discovery");
    const all = await person.post(path, { ...manual, issuer_url: "http://id.example.org" });
    expect(all.text).toContain("4 fields need attention");
    const addresses = { issuer_url: "id.example.org", token_url: "id.example.org/token" };
    const wrong = await person.post(path, { ...manual, ...addresses });
    expect(wrong.text).toContain("without a user name or fragment, for example &quot;https://id.example.org&quot;");
    expect(wrong.text).toContain(
      "without a user name or fragment, for example &quot;https://id.example.org/token&quot;",
    );
  });

  test("stores the provider, and a blank secret on edit keeps the stored one", async () => {
    expect((await person.post(path, provider)).location).toBe(`/tide${path}`);
    const page = await person.get(path);
    expect(page.text).toContain("The House");
    expect(page.text).toContain("No account is bound yet");
    expect(page.text).not.toContain(provider.client_secret);
    expect((await person.get(`${path}/new`)).location).toBe(`/tide${path}`);
    const edit = await person.get(`${path}/edit`);
    expect(edit.text).toContain('<output id="f-slug">house</output>');
    const changed = { ...provider, client_secret: "", slug: "other", display_name: "Our House" };
    expect((await person.post(`${path}/edit`, changed)).location).toBe(`/tide${path}`);
    const { items } = await app.services.oidc.list({});
    expect(items[0]).toMatchObject({ slug: "house", display_name: "Our House", has_client_secret: true });
  });

  test("keeps what was typed when a second one is refused", async () => {
    const second = await person.post(path, { ...provider, slug: "second" });
    expect(second.status).toBe(409);
    expect(second.text).toContain('value="second"');
  });
});

describe("with a provider that nobody is bound to", () => {
  test("the account offers to bind, and the sign-in page has no button", async () => {
    const page = await person.get("/account");
    expect(page.text).toContain("Not bound");
    expect(page.text).toContain('href="/tide/account/binding/bind"');
    expect((await app.browser().get("/login")).text).not.toContain("/auth/oidc/");
  });

  test.each([false, true])("a wrong password brings the question back, by htmx: %p", async (htmx) => {
    const answer = await person.post("/account/binding/bind", { current_password: "wrong" }, { htmx });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('aria-invalid="true"');
    expect(answer.text.startsWith("<form")).toBe(htmx);
  });

  test("takes no form of another site", async () => {
    const headers = { "sec-fetch-site": "cross-site" };
    const answer = await person.post("/account/binding/bind", { current_password: goodPassword }, { headers });
    expect(answer.status).toBe(403);
  });
});

describe("while it is bound", () => {
  beforeAll(bind);

  test.each(languages)("the account shows the binding and what it holds fast, in %s", async (language) => {
    const page = await person.get("/account", { headers: { "accept-language": language } });
    expect(page.text).toContain(bound.issuer);
    expect(page.text).toContain(bound.subject);
    expect(page.text).toContain('href="/tide/account/binding/unbind"');
    expect(page.text).not.toContain('href="/tide/account/binding/bind"');
  });

  test("the provider's page offers no change, and the service refuses one with the reason in the form", async () => {
    const page = await person.get(path);
    expect(page.text).not.toContain(`${path}/edit`);
    expect(page.text).not.toContain(`${path}/delete`);
    const changed = await person.post(`${path}/edit`, { ...provider, client_secret: "", display_name: "Third" });
    expect(changed.status).toBe(409);
    expect(changed.text).toContain('value="Third"');
    // htmx puts only 422 into the page.
    const renamed = { ...provider, client_secret: "", display_name: "Third" };
    const byHtmx = await person.post(`${path}/edit`, renamed, { htmx: true });
    expect(byHtmx.status).toBe(422);
    expect(byHtmx.text).toContain("data-errors");
    const zh = { headers: { "accept-language": "zh" } };
    const deleted = await person.post(`${path}/delete`, {}, zh);
    expect(deleted.status).toBe(409);
    expect(/role="alert".*?<\/p>/s.exec(deleted.text)?.[0]).toMatch(/\p{Script=Han}/u);
    expect((await app.services.oidc.list({})).items[0]?.display_name).toBe("Our House");
  });

  test.each(languages)("the addresses of form and deletion say why there is neither, in %s", async (language) => {
    const headers = { "accept-language": language };
    const { status, text } = await person.get(`${path}/edit`, { headers });
    const main = text.slice(text.indexOf("<main"), text.indexOf("</main>"));
    expect(status).toBe(200);
    expect(main).not.toContain("<form");
    expect(main).toContain(language === "en" ? "Our House cannot be edited" : "无法编辑“Our House”");
    expect(main).toContain('href="/tide/account#binding"');
    expect(main).toContain(provider.issuer_url);
    const question = await person.get(`${path}/delete`, { headers, htmx: true });
    expect(question.text).not.toContain("<form");
    expect(question.text).toContain(language === "en" ? "Our House cannot be deleted" : "无法删除“Our House”");
  });

  test.each([
    ["/login", "/tide/auth/oidc/house/start"],
    ["/login?next=%2Ftrackers%3Fstate%3Dfailed", "/tide/auth/oidc/house/start?next=%2Ftrackers%3Fstate%3Dfailed"],
    ["/login?next=%2F%2Fevil.example", "/tide/auth/oidc/house/start"],
  ])("%s has a link to the provider, no form", async (address, link) => {
    const page = await app.browser().get(address);
    expect(/<a class="btn provider" href="([^"]+)"/.exec(page.text)?.[1]).toBe(link);
    expect(page.text).toContain("Continue with Our House");
    expect(page.text).toContain(">OH<");
  });

  test.each(languages)("whatever the provider sends is answered with the one page, in %s", async (language) => {
    const query = `error=access_denied&error_description=${encodeURIComponent("<b>mark me</b>")}&state=x`;
    const stranger = app.browser();
    const answer = await stranger.get(`/auth/oidc/house/callback?${query}`);
    expect(answer.location).toBe("/tide/auth/oidc/failed");
    const page = await stranger.get("/auth/oidc/failed", { headers: { "accept-language": language } });
    expect(page.status).toBe(403);
    expect(page.text).toContain('<input type="hidden" name="next" value="/auth/oidc/failed"');
    expect(page.text).not.toContain("mark me");
    expect(page.text).not.toContain("access_denied");
    expect(page.text).toContain('href="/tide/login"');
    expect([...stranger.cookies.keys()].filter((name) => name.includes("session"))).toEqual([]);
  });

  test.each(languages)("a button switches it off and another on again, in %s", async (language) => {
    const headers = { "accept-language": language };
    const isListed = async () => (await app.browser().get("/login")).text.includes("/auth/oidc/");
    const offers = async () => (await person.get(path, { headers })).text;
    expect(await offers()).toContain(`action="/tide${path}/disable"`);
    expect((await person.post(`${path}/disable`, {}, { headers })).location).toBe(`/tide${path}`);
    const off = await offers();
    expect(off).toContain(`action="/tide${path}/enable"`);
    expect(off).not.toContain(`${path}/disable`);
    expect(off).not.toContain(`${path}/edit`);
    expect(await isListed()).toBe(false);
    expect((await person.get("/account", { headers })).text).toContain(bound.subject);
    expect((await person.post(`${path}/enable`, {}, { headers })).location).toBe(`/tide${path}`);
    expect(await isListed()).toBe(true);
  });

  test("its form switches it off where nothing else was changed", async () => {
    const { is_enabled: _off, ...rest } = { ...provider, client_secret: "", display_name: "Our House" };
    expect((await person.post(`${path}/edit`, rest)).location).toBe(`/tide${path}`);
    expect((await app.services.oidc.list({})).items[0]).toMatchObject({ is_enabled: false, is_bound: true });
    await person.post(`${path}/enable`);
  });

  test.each(["enable", "disable"])("%s takes no form of another site", async (verb) => {
    const headers = { "sec-fetch-site": "cross-site" };
    expect((await person.post(`${path}/${verb}`, {}, { headers })).status).toBe(403);
  });

  test("unbinding asks for the password, and frees the provider", async () => {
    const wrong = await person.post("/account/binding/unbind", { current_password: "wrong" });
    expect(wrong.status).toBe(422);
    expect((await app.services.oidc.binding()).is_bound).toBe(true);
    const done = await person.post("/account/binding/unbind", { current_password: goodPassword });
    expect(done.location).toBe("/tide/account#binding");
    expect((await app.services.oidc.binding()).is_bound).toBe(false);
    expect((await person.get(`${path}/delete`, { htmx: true })).text).toStartWith("<form");
    expect((await person.post(`${path}/delete`)).location).toBe(`/tide${path}`);
    expect((await app.services.oidc.list({})).items).toEqual([]);
  });
});

test("initials are two letters at most, of whatever script", async () => {
  const { initialsOf } = await import("../../../templates/oidc/sign-in-button.tsx");
  expect(["The House", "dex", "公司 登录", "a-b-c", "😀 smile", "单点登录"].map(initialsOf)).toEqual([
    "TH",
    "D",
    "公登",
    "AB",
    "😀S",
    "单",
  ]);
});
