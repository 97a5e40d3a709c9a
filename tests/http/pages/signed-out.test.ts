import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Browser, goodPassword, type TestApp, testApp } from "../../support/test-app.ts";

let app: TestApp;
let person: Awaited<ReturnType<TestApp["signedIn"]>>;
beforeEach(async () => {
  app = await testApp();
  person = await app.signedIn();
});
afterEach(() => app.close());

const line = 'hx-target="#signed-out"';
const form = "/executors/new?connection=a&kind=container&target=web";
const signIn = (who: Browser) => who.post("/login", { username: "admin", password: goodPassword });
/** What the answer puts into the forms of the page that asked. */
const renewal = (headers: Headers): string =>
  JSON.parse(headers.get("hx-trigger") ?? "{}")["signed-in"]?.value ?? "none";

describe("whoever is signed out while a page is open", () => {
  test.each([
    ["sends its form", "POST", "/credentials"],
    ["chooses another type in it", "POST", "/executors"],
    ["opens a dialog", "GET", "/credentials/new"],
    ["only has it open", "GET", "/changes"],
  ])("keeps the page as it is and is told: who %s", async (_what, method, path) => {
    await person.post("/logout");
    const sent = { htmx: true, headers: { "hx-current-url": `${app.origin}${form}` } };
    const answer = method === "GET" ? await person.get(path, sent) : await person.post(path, { name: "typed" }, sent);
    // Where whoever has nothing to lose would be led.
    const signIn = `/login?next=${encodeURIComponent(form)}`;
    expect([answer.status, answer.headers.get("hx-redirect"), answer.location]).toEqual([401, signIn, null]);
    expect(answer.text).toContain(line);
    expect(answer.text).toContain("You are signed out");
    // Another tab: the page with the form stays.
    expect(answer.text).toContain('<a href="/login?next=%2Faccount%2Fsigned-in" target="_blank" rel="noopener">');
    expect(answer.text).not.toContain("typed");
    expect(renewal(answer.headers)).toBe("none");
  });

  test("signs in in another tab, which leads back to the first", async () => {
    await person.post("/logout");
    const next = "/account/signed-in";
    const page = await person.get(`/login?next=${encodeURIComponent(next)}`);
    expect(page.text).toContain("Sign in, then go back to the tab you came from");
    const entered = await person.post("/login", { username: "admin", password: goodPassword, next });
    expect(entered.location).toBe(next);
    expect((await person.get(next)).text).toContain("what you entered there is kept");
  });

  test("has forms of the new session after that", async () => {
    const old = /csrf_token" value="([^"]+)"/.exec((await person.get("/credentials/new")).text)?.[1] ?? "";
    await person.post("/logout");
    await signIn(person);
    const stale = await person.post("/preferences", { csrf_token: old, language: "en" });
    expect(stale.status).toBe(403);
    const changes = await person.get("/changes", { htmx: true });
    expect(changes.text).toContain(`${line} hx-swap="outerMorph"><output id="signed-out" class="away"></output>`);
    expect((await person.get("/changes?signed_out=yes", { htmx: true })).text).toContain("You are signed in again");
    const renewed = renewal(changes.headers);
    expect((await person.post("/preferences", { csrf_token: renewed, language: "en" })).status).toBe(303);
    expect(renewal((await person.get("/", { htmx: true })).headers)).not.toBe("none");
  });

  test("can send a form again that was refused because it was of the session before", async () => {
    await person.post("/logout");
    await signIn(person);
    const old = await person.post("/credentials", { csrf_token: "A".repeat(86) }, { htmx: true });
    expect(old.status).toBe(403);
    expect(old.text).toContain("Submit it again");
    const renewed = { csrf_token: renewal(old.headers), name: "" };
    expect((await person.post("/credentials", renewed, { htmx: true })).status).toBe(422);
  });

  test("gets no token by a page of another site", async () => {
    const headers = { "sec-fetch-site": "cross-site", origin: "https://evil.test" };
    const answer = await person.post("/credentials", {}, { htmx: true, headers });
    expect([answer.status, renewal(answer.headers)]).toEqual([403, "none"]);
  });
});

describe("the sign-in page says why it is shown", () => {
  const page = async (from: { location: string | null }) => await person.get(from.location ?? "");

  test("to whom comes with a form that is sent without script, and leads back to its page", async () => {
    await person.post("/logout");
    const headers = { referer: `${app.origin}${form}` };
    const answer = await person.post("/executors", { name: "typed" }, { headers });
    expect(answer.location).toBe(`/login?next=${encodeURIComponent(form)}&unsaved=yes`);
    const { text } = await page(answer);
    expect(text).toContain("your last action was not carried out");
    expect(text).toContain("fill it in again");
    expect(text).toContain(`name="next" value="${form.replaceAll("&", "&amp;")}"`);
    expect(text).not.toContain("typed");
  });

  test.each([
    [{}, "/login?unsaved=yes"],
    [{ referer: "nothing of the kind" }, "/login?unsaved=yes"],
    [{ referer: "http://tidemark.test//evil.example" }, "/login?unsaved=yes"],
    [{ referer: "https://evil.example/executors" }, "/login?next=%2Fexecutors&unsaved=yes"],
  ])("and leads nowhere else: %p", async (headers, expected) => {
    await person.post("/logout");
    expect((await person.post("/executors", {}, { headers })).location).toBe(expected);
  });

  test("to whose session has ended", async () => {
    await app.clock.advance(8 * 86_400_000);
    const { text } = await page(await person.get("/trackers?state=failed"));
    expect(text).toContain("Your session has ended");
    expect(text).toContain('value="/trackers?state=failed"');
  });

  test("to whom wants a page, and not to whom comes by themselves", async () => {
    const stranger = app.browser();
    const asked = await stranger.get("/trackers");
    expect((await stranger.get(asked.location ?? "")).text).toContain("Sign in to open the page you requested");
    expect((await stranger.get("/login")).text).not.toContain('class="lead"');
  });

  test("in Chinese", async () => {
    await person.post("/logout");
    const headers = { "accept-language": "zh", referer: `${app.origin}/executors/new` };
    const { location } = await person.post("/executors", {}, { headers });
    expect((await person.get(location ?? "", { headers })).text).toContain("刚才的操作没有执行");
    const kept = await person.post("/executors", {}, { headers, htmx: true });
    expect(kept.text).toContain("已填写的内容仍保留在此页");
  });
});
