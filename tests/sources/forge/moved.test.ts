import { describe, expect, test } from "bun:test";
import { systemClock } from "../../../src/clock.ts";
import { say } from "../../../src/messages/message.ts";
import type { PluginContext } from "../../../src/plugin.ts";
import { fetchMoved } from "../../../src/sources/forge/moved.ts";

const redirect = (status: number, location: string) => new Response(null, { status, headers: { location } });

/** Redirects by path, a success for the rest; `asked` has method, address and authorization of each request. */
function contextOf(places: Readonly<Record<string, Response>>): { context: PluginContext; asked: string[] } {
  const asked: string[] = [];
  const fetch = async (url: URL, init: RequestInit = {}) => {
    if (init.redirect !== "manual") throw new Error("It would be followed anywhere");
    const authorization = new Headers(init.headers).get("authorization");
    asked.push(`${init.method ?? "GET"} ${url.href} ${authorization} ${init.body ?? ""}`);
    return places[url.pathname] ?? new Response("ok");
  };
  return { context: { fetch, signal: new AbortController().signal, clock: systemClock }, asked };
}

const action = say("sources.read_name", { name: "owner/app" });
const start = new URL("https://host.example/a?page=1");
const init = { headers: { authorization: "token t" } };

describe("fetchMoved()", () => {
  test("gives the answer and says that nothing moved", async () => {
    const { context } = contextOf({});
    const { url, has_moved } = await fetchMoved(context, start, init, action);
    expect([url.href, has_moved]).toEqual([start.href, false]);
  });

  test.each([301, 302, 303, 307, 308])("follows a %d on the same origin with all that was sent", async (status) => {
    const { context, asked } = contextOf({ "/a": redirect(status, "/b?page=1#part") });
    const post = { ...init, method: "POST", body: "question" };
    const { response, url, has_moved } = await fetchMoved(context, start, post, action);
    expect([await response.text(), url.href, has_moved]).toEqual(["ok", "https://host.example/b?page=1", true]);
    expect(asked[1]).toBe("POST https://host.example/b?page=1 token t question");
  });

  test("follows three moves, and no more", async () => {
    const chain = { "/a": redirect(301, "/b"), "/b": redirect(301, "/c"), "/c": redirect(301, "/d") };
    const three = contextOf(chain);
    expect((await fetchMoved(three.context, start, init, action)).url.pathname).toBe("/d");
    const four = contextOf({ ...chain, "/d": redirect(301, "/e") });
    await expect(fetchMoved(four.context, start, init, action)).rejects.toMatchObject({
      code: "rejected",
      said: say("sources.failed", {
        action,
        reason: say("net.too_many_redirects", { host: "host.example", limit: 3 }),
      }),
    });
    expect(four.asked.length).toBe(4);
  });

  test.each([
    ["https://other.example/b"],
    ["https://host.example:8443/b"],
    ["http://host.example:8080/b"],
    ["//other.example/b"],
    ["/\\other.example/b"],
    ["ftp://host.example/b"],
  ])("refuses to go to %s", async (location) => {
    const { context, asked } = contextOf({ "/a": redirect(301, location) });
    await expect(fetchMoved(context, start, init, action)).rejects.toMatchObject({ code: "rejected" });
    expect(asked.length).toBe(1);
  });

  test("reads plain http on its own host as the https that it asked by", async () => {
    const { context, asked } = contextOf({ "/a": redirect(301, "http://host.example/b") });
    await fetchMoved(context, start, init, action);
    expect(asked[1]).toStartWith("GET https://host.example/b ");
  });

  test("passes on a redirect that names no place, and refuses one that names none that can be", async () => {
    const nowhere = contextOf({ "/a": new Response(null, { status: 304 }) });
    expect((await fetchMoved(nowhere.context, start, init, action)).response.status).toBe(304);
    const broken = contextOf({ "/a": redirect(301, "http://[") });
    await expect(fetchMoved(broken.context, start, init, action)).rejects.toMatchObject({ code: "malformed" });
  });
});
