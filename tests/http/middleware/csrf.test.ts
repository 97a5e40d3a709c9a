import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AuthApp, authApp } from "../auth-app.ts";

let app: AuthApp;
let token = "";
let formToken = "";
const cookieName = "__Host-tidemark_session";
const own = "https://tidemark.example";

beforeAll(async () => {
  app = await authApp();
  const settled = await app.settle();
  token = settled.token;
  formToken = app.auth.formToken(settled.session);
});
afterAll(() => app.close());

interface Case {
  site?: string;
  origin?: string;
  cookie?: boolean;
  bearer?: string;
  type?: string;
  field?: string | null;
  header?: string;
  path?: string;
  method?: string;
}

async function send(each: Case): Promise<{ status: number; code: string | null }> {
  const type = each.type ?? "application/x-www-form-urlencoded";
  const headers: Record<string, string> = {};
  if (type !== "none") headers["content-type"] = type;
  if (each.site !== undefined) headers["sec-fetch-site"] = each.site;
  if (each.origin !== undefined) headers.origin = each.origin;
  if (each.cookie !== false) headers.cookie = `${cookieName}=${token}`;
  if (each.bearer !== undefined) headers.authorization = `Bearer ${each.bearer}`;
  if (each.header !== undefined) headers["x-csrf-token"] = each.header;
  const field = each.field === undefined ? formToken : each.field;
  const body = type === "application/json" ? "{}" : field === null ? "a=b" : `csrf_token=${field}`;
  const response = await app.request(each.method ?? "POST", each.path ?? "/form", headers, body);
  const text = await response.text();
  return { status: response.status, code: text.startsWith("{") ? JSON.parse(text).error.code : null };
}

describe("csrf() lets pass", () => {
  const cases: [string, Case][] = [
    ["a form of our page, told by Sec-Fetch-Site", { site: "same-origin" }],
    ["a form of our page, told by Origin", { origin: own }],
    ["the address in use when the base URL is another", { site: "same-origin", origin: "http://127.0.0.1:8080" }],
    ["the token in the header", { site: "same-origin", field: null, header: "FORM" }],
    ["the token in the header of a request without a body type", { site: "same-origin", type: "none", header: "FORM" }],
    [
      "JSON of the API from our page without a form token",
      { site: "same-origin", type: "application/json", path: "/api/full" },
    ],
    ["a sign-in form without a session", { site: "same-origin", cookie: false, path: "/login", field: null }],
    ["a Bearer token without a cookie", { cookie: false, bearer: "TOKEN" }],
    ["a program that signs in", { cookie: false, type: "application/json", path: "/api/session" }],
  ];
  test.each(cases)("%s", async (_name, each) => {
    const answer = await send({
      ...each,
      ...(each.header === undefined ? {} : { header: formToken }),
      ...(each.bearer === undefined ? {} : { bearer: token }),
    });
    expect(answer.code).not.toBe("csrf_refused");
    expect(answer.status).not.toBe(403);
  });

  test.each(["GET", "HEAD"])("%s from anywhere", async (method) => {
    const headers = { "sec-fetch-site": "cross-site", cookie: `${cookieName}=${token}` };
    expect((await app.request(method, "/form", headers)).status).toBe(200);
  });
});

describe("csrf() refuses", () => {
  const cases: [string, Case][] = [
    ["neither header with a cookie", {}],
    ["another site", { site: "cross-site" }],
    ["the same site", { site: "same-site" }],
    ["a request that the person began", { site: "none" }],
    ["an unknown word", { site: "SAME-ORIGIN" }],
    ["another site whatever Origin says", { site: "cross-site", origin: own }],
    ["a null Origin", { origin: "null" }],
    ["an empty Origin", { origin: "" }],
    ["another Origin", { origin: "https://evil.example" }],
    ["our name under http", { origin: "http://tidemark.example" }],
    ["our name with a port", { origin: "https://tidemark.example:8443" }],
    ["our name as a part", { origin: "https://tidemark.example.evil.example" }],
    ["JSON from elsewhere", { origin: "https://evil.example", type: "application/json", path: "/api/full" }],
    ["JSON of the API with a cookie alone", { type: "application/json", path: "/api/full" }],
    ["text from elsewhere", { site: "cross-site", type: "text/plain", path: "/api/full" }],
    ["no content type from elsewhere", { site: "cross-site", type: "none" }],
    ["DELETE from elsewhere", { site: "cross-site", method: "DELETE", path: "/api/session" }],
    ["OPTIONS from elsewhere", { site: "cross-site", method: "OPTIONS" }],
    ["a Bearer token beside a cookie", { bearer: "TOKEN" }],
    ["a sign-in form of another site", { site: "cross-site", cookie: false, path: "/login" }],
    ["a sign-in form without either header", { cookie: false, path: "/login" }],
    [
      "a sign-in by API from another site",
      { site: "cross-site", cookie: false, type: "application/json", path: "/api/session" },
    ],
    ["our page without the form token", { site: "same-origin", field: null }],
    ["our page with a wrong form token", { site: "same-origin", field: "x".repeat(43) }],
    ["our page with an empty form token", { site: "same-origin", field: "" }],
    ["a wrong token in the header beside a right field", { site: "same-origin", header: "x" }],
    ["JSON for a page without the header", { site: "same-origin", type: "application/json" }],
    ["a form for the API without the token", { site: "same-origin", path: "/api/full", field: null }],
    ["no content type and no token", { site: "same-origin", type: "none", field: null }],
  ];
  test.each(cases)("%s", async (_name, each) => {
    const answer = await send({ ...each, ...(each.bearer === undefined ? {} : { bearer: token }) });
    expect(answer).toEqual({ status: 403, code: "csrf_refused" });
  });

  test("a body that is no form with 400", async () => {
    const type = "multipart/form-data; boundary=x";
    expect(await send({ site: "same-origin", type })).toEqual({ status: 400, code: "invalid_form" });
  });

  test("the token of another session", async () => {
    const other = await app.signIn("kelp-otter-lantern");
    expect(await send({ site: "same-origin", field: app.auth.formToken(other.session) })).toMatchObject({
      status: 403,
    });
  });

  test("and leaves an entry when a session was to be used, none for strangers", async () => {
    const count = async () => (await app.events()).filter((event) => event === "csrf_refused refused").length;
    const before = await count();
    await send({ site: "cross-site" });
    expect(await count()).toBe(before + 1);
    await send({ site: "cross-site", cookie: false });
    expect(await count()).toBe(before + 1);
  });
});
