import { afterEach, describe, expect, test } from "bun:test";
import { goodPassword, type TestApp, testApp } from "../../support/test-app.ts";

const open: TestApp[] = [];
async function start(env: Record<string, string> = {}): Promise<TestApp> {
  const app = await testApp({ env });
  open.push(app);
  return app;
}
afterEach(async () => {
  for (const app of open.splice(0)) await app.close();
});

describe("GET /login", () => {
  test.each(["//evil.example", "/\\evil.example", "https://evil.example", "/login", "/a b", "/x\u0000"])(
    "forgets the next place %p",
    async (next) => {
      const app = await start();
      const page = await app.browser().get(`/login?next=${encodeURIComponent(next)}`);
      expect(page.status).toBe(200);
      expect(page.text).toContain('name="next" value=""');
    },
  );

  test("leads on who is signed in already", async () => {
    const app = await start();
    const person = await app.signedIn();
    expect((await person.get("/login?next=/credentials")).location).toBe("/credentials");
    expect((await person.get("/login?next=//evil.example")).location).toBe("/");
  });
});

describe("POST /login", () => {
  test("says the same for an unknown name and a wrong password", async () => {
    const app = await start();
    const wrong = async (username: string) => {
      const answer = await app.browser().post("/login", { username, password: "not the password" });
      return { status: answer.status, text: answer.text.replace(`value="${username}"`, ""), location: answer.location };
    };
    const unknown = await wrong("nobody");
    expect(unknown.status).toBe(422);
    expect(unknown.text).toContain("The user name or password is wrong");
    expect(unknown.text).not.toContain("not the password");
    expect(await wrong("admin")).toEqual(unknown);
  });

  test("says when to come back after too many failures, in words and in Retry-After", async () => {
    const app = await start();
    const person = app.browser();
    let answer = await person.post("/login", { username: "admin", password: "wrong" });
    for (let attempt = 0; answer.status === 422 && attempt < 50; attempt += 1) {
      answer = await person.post("/login", { username: "admin", password: "wrong" });
    }
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(answer.text).toMatch(/Too many failed attempts\. Try again in \d+ seconds?\./);
  });

  test("keeps where one wanted to go", async () => {
    const app = await start();
    await app.signedIn();
    const person = app.browser();
    const refused = await person.get("/credentials?cursor=x");
    expect(refused.status).toBe(303);
    expect(refused.location).toBe(`/login?next=${encodeURIComponent("/credentials?cursor=x")}`);
    const page = await person.get(refused.location ?? "");
    expect(page.text).toContain('name="next" value="/credentials?cursor=x"');
    const entered = await person.post("/login", {
      username: "admin",
      password: goodPassword,
      next: "/credentials?cursor=x",
    });
    expect(entered.location).toBe("/credentials?cursor=x");
  });

  test("refuses a form of another site", async () => {
    const app = await start();
    const answer = await app
      .browser()
      .post(
        "/login",
        { username: "admin", password: app.bootstrapPassword() },
        { headers: { "sec-fetch-site": "cross-site" } },
      );
    expect(answer.status).toBe(403);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test("answers 400 to a body that is no form", async () => {
    const app = await start();
    const answer = await app.send("/login", {
      method: "POST",
      headers: { origin: app.origin, "content-type": "application/json" },
      body: "{}",
    });
    expect(answer.status).toBe(400);
  });
});

describe("the first password change", () => {
  test("is where every page leads until it is done", async () => {
    const app = await start();
    const person = app.browser();
    const entered = await person.post("/login", {
      username: "admin",
      password: app.bootstrapPassword(),
      next: "/credentials",
    });
    expect(entered.location).toBe("/account/password");
    for (const path of ["/", "/credentials", "/settings", "/no-such-page"]) {
      expect((await person.get(path)).location).toBe("/account/password");
    }
    const htmx = await person.get("/credentials", { htmx: true });
    expect(htmx.headers.get("hx-redirect")).toBe("/account/password");
    expect((await person.get("/account/password")).text).toContain("Choose your own password");
  });

  test("brings the form back with the reason, and goes on with a new session", async () => {
    const app = await start();
    const person = app.browser();
    await person.post("/login", { username: "admin", password: app.bootstrapPassword() });
    const short = await person.post("/account/password", {
      current_password: app.bootstrapPassword(),
      new_password: "short",
    });
    expect(short.status).toBe(422);
    expect(short.text).toContain("it must have at least 12");
    const before = person.cookies.get("tidemark_session");
    const changed = await person.post("/account/password", {
      current_password: app.bootstrapPassword(),
      new_password: goodPassword,
    });
    expect(changed.location).toBe("/");
    expect(person.cookies.get("tidemark_session")).not.toBe(before);
    expect((await person.get("/credentials")).status).toBe(200);
  });
});

describe("POST /logout", () => {
  test("ends the session on the server and in the browser", async () => {
    const app = await start();
    const person = await app.signedIn();
    const cookie = `tidemark_session=${person.cookies.get("tidemark_session")}`;
    expect((await person.post("/logout")).location).toBe("/login");
    expect(person.cookies.has("tidemark_session")).toBe(false);
    const replayed = await app.send("/credentials", { headers: { cookie } });
    expect(replayed.headers.get("location")).toBe("/login?next=%2Fcredentials");
  });
});

describe("pages", () => {
  test("take no API token, whatever its scope", async () => {
    const app = await start();
    const person = await app.signedIn();
    const { body } = await person.api("POST", "/api-tokens", {
      name: "reader",
      scope: "read",
      current_password: goodPassword,
    });
    const headers = [{ authorization: `Bearer ${body.token}` }, { cookie: `tidemark_session=${body.token}` }];
    for (const each of headers) {
      expect((await app.send("/credentials", { headers: each })).status).toBe(303);
    }
  });

  test("answer with a toast, a page or a way to sign in when something fails", async () => {
    const app = await start();
    const person = await app.signedIn();
    const page = await person.get("/no-such-page");
    expect(page.status).toBe(404);
    expect(page.text).toContain("Page not found");
    const fragment = await person.get("/credentials/none/delete", { htmx: true });
    expect(fragment.status).toBe(404);
    expect(fragment.text).toStartWith("<hx-partial");
    const json = await person.get("/api/none");
    expect(json.status).toBe(404);
    expect(JSON.parse(json.text).error.code).toBe("not_found");
    const stranger = await app.browser().get("/credentials/new", { htmx: true });
    expect(stranger.status).toBe(401);
    expect(stranger.text).toStartWith("<hx-partial");
  });

  test("say what to do when a form's token is old, with the request id", async () => {
    const app = await start();
    const person = await app.signedIn();
    const answer = await person.post("/credentials", { csrf_token: "old" }, { headers: { "x-csrf-token": "old" } });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("Request refused");
    expect(answer.text).toContain(answer.headers.get("x-request-id") ?? "none");
  });

  test("hide what failed inside, and name the request id", async () => {
    const app = await start();
    const person = await app.signedIn();
    app.services.credentials.list = async () => {
      throw new Error("secret detail");
    };
    const answer = await person.get("/credentials");
    expect(answer.status).toBe(500);
    expect(answer.text).toContain("The page could not be displayed");
    expect(answer.text).not.toContain("secret detail");
    expect(answer.text).toContain(answer.headers.get("x-request-id") ?? "none");
  });
});

describe("a base URL with a sub-path", () => {
  const env = { BASE_URL: "http://tidemark.test/tide" };

  test.each(["/tide", ""])("works for requests that arrive with the prefix %p", async (prefix) => {
    const app = await start(env);
    const person = app.browser();
    const refused = await person.get(`${prefix}/credentials`);
    expect(refused.location).toBe("/tide/login?next=%2Fcredentials");
    const entered = await person.post(`${prefix}/login`, { username: "admin", password: app.bootstrapPassword() });
    expect(entered.location).toBe("/tide/account/password");
    expect(entered.headers.getSetCookie()[0]).toContain("; Path=/tide");
    await person.get(`${prefix}/account/password`);
    const changed = await person.post(`${prefix}/account/password`, {
      current_password: app.bootstrapPassword(),
      new_password: goodPassword,
    });
    expect(changed.location).toBe("/tide/");
    const page = await person.get(`${prefix}/credentials`);
    expect(page.status).toBe(200);
    expect(page.text).toContain('href="/tide/assets/app.');
    const style = /href="(\/tide\/assets\/app\.[^"]+)"/.exec(page.text)?.[1] ?? "";
    expect((await app.send(style)).status).toBe(200);
    expect((await app.send(`${prefix}/health/live`)).status).toBe(200);
  });
});
