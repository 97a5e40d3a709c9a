import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import * as v from "valibot";
import type { PluginContext } from "../../../src/plugin.ts";
import { github } from "../../../src/sources/github/github.ts";
import { GithubConfig } from "../../../src/sources/github/schema.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { failureOf, type GithubWorld, githubWorld, listRequest, type Mode, token } from "./github-world.ts";
import { jsonAnswer } from "./hub-rest.ts";

/** A context that answers everything with 404, and what it was asked. */
function recording() {
  const asked: string[] = [];
  const context: PluginContext = {
    fetch: async (url, init) => {
      asked.push(`${init?.method ?? "GET"} ${url.href}`);
      return new Response("{}", { status: 404 });
    },
    signal: new AbortController().signal,
    clock: createFakeClock(),
  };
  return { asked, context };
}

describe("GithubConfig", () => {
  const typed: readonly [repository: string, instance: string, stored: [string, string]][] = [
    ["acme/app", "", ["acme/app", ""]],
    ["  acme/app.js  ", "", ["acme/app.js", ""]],
    ["https://github.com/acme/app", "", ["acme/app", ""]],
    ["https://github.com/acme/app.git", "", ["acme/app", ""]],
    ["https://github.com/acme/app/releases/tag/v1", "", ["acme/app", ""]],
    ["github.com/acme/app", "", ["acme/app", ""]],
    ["www.github.com/acme/app/", "https://github.com", ["acme/app", ""]],
    ["git@github.com:acme/app.git", "", ["acme/app", ""]],
    ["ssh://git@github.com/acme/app.git", "", ["acme/app", ""]],
    ["https://github.com/acme/app?tab=readme", "", ["acme/app", ""]],
    ["https://git.acme.test:8443/acme/app", "", ["acme/app", "https://git.acme.test:8443"]],
    ["acme/app", "https://git.acme.test/", ["acme/app", "https://git.acme.test"]],
    ["acme/app", "https://git.acme.test/api/v3/", ["acme/app", "https://git.acme.test"]],
    ["acme/app", "http://127.0.0.1:3000", ["acme/app", "http://127.0.0.1:3000"]],
    ["acme/app", "https://api.github.com", ["acme/app", ""]],
    ["acme", "", ["", ""]],
    ["acme/app/releases", "", ["", ""]],
    ["acme/..", "", ["", ""]],
    ["a b/c", "", ["", ""]],
    ["acme/app?x=1", "", ["", ""]],
    ["acme/app", "git.acme.test", ["acme/app", "https://git.acme.test"]],
    ["acme/app", "https://git.acme.test/below", ["", ""]],
    ["https://git.acme.test/acme/app", "https://github.com", ["", ""]],
    ["acme/app", "https://git.acme.test/?a", ["", ""]],
  ];
  test.each(typed)("reads %p of %p", (repository, instance_url, [name, instance]) => {
    const parsed = v.safeParse(GithubConfig, { repository, instance_url });
    expect(parsed.success ? parsed.output : null).toEqual(
      name === "" ? null : { repository: name, fetch_mode: "rest", instance_url: instance },
    );
  });
});

describe("the addresses that are asked", () => {
  const rows: readonly [instance: string, mode: Mode, host: string, first: string, git: string][] = [
    [
      "",
      "rest",
      "api.github.com",
      "GET https://api.github.com/repos/acme/app/releases?per_page=100",
      "https://github.com",
    ],
    ["", "graphql", "api.github.com", "POST https://api.github.com/graphql", "https://github.com"],
    [
      "https://git.acme.test",
      "rest",
      "git.acme.test",
      "GET https://git.acme.test/api/v3/repos/acme/app/releases?per_page=100",
      "https://git.acme.test",
    ],
    [
      "https://git.acme.test",
      "graphql",
      "git.acme.test",
      "POST https://git.acme.test/api/graphql",
      "https://git.acme.test",
    ],
    [
      "https://acme.ghe.com",
      "graphql",
      "api.acme.ghe.com",
      "POST https://api.acme.ghe.com/graphql",
      "https://acme.ghe.com",
    ],
  ];
  test.each(rows)("of instance %p by %s", async (instance_url, fetch_mode, host, first, git) => {
    const { asked, context } = recording();
    const config = { repository: "acme/app", fetch_mode, instance_url };
    const source = github.open(config, { token }, context);
    await failureOf(source.listReleases(listRequest()));
    await failureOf(source.listNames?.() ?? Promise.resolve());
    expect(asked).toEqual([first, `POST ${git}/acme/app.git/git-upload-pack`]);
    expect(github.host(config)).toBe(host);
  });
});

describe("what a check is said to cost", () => {
  const rows: readonly [mode: Mode, hasCredential: boolean, cost: [number, number, number]][] = [
    ["rest", false, [2, 1, 60]],
    ["rest", true, [2, 1, 5_000]],
    ["graphql", true, [1, 1, 5_000]],
  ];
  test.each(rows)("%s with a credential %p", (fetch_mode, hasCredential, [requests, quota, hourly_limit]) => {
    const config = { repository: "acme/app", fetch_mode, instance_url: "" };
    expect(github.cost(config, { has_credential: hasCredential, has_fallback: true, channel_count: 3 })).toEqual({
      requests,
      quota,
      hourly_limit,
    });
  });

  test("GraphQL-first alone needs a credential, and says why", () => {
    const needOf = (fetch_mode: Mode) => github.credentialNeed?.({ repository: "acme/app", fetch_mode });
    expect(needOf("rest")).toBeNull();
    expect(needOf("graphql")?.code).toBe("sources.graphql_needs_token");
  });

  test("another mode and another spelling are the same upstream, another repository is not", () => {
    const identityOf = (repository: string, fetch_mode: Mode) => github.identity?.({ repository, fetch_mode });
    expect(identityOf("acme/app", "rest")).toBe(identityOf("Acme/App", "graphql") ?? "");
    expect(identityOf("acme/app", "rest")).not.toBe(identityOf("acme/other", "rest") ?? "");
  });
});

describe.each<Mode>(["rest", "graphql"])("%s: files", (mode) => {
  let world: GithubWorld;
  beforeEach(async () => {
    world = await githubWorld();
    const { files } = world.repository("acme", "app", { is_private: true, former: ["acme/old"] });
    files.set("main:CHANGELOG.md", "# Now\n");
    files.set("main:docs/über uns/1.0#a.md", "# Notes\n");
    files.set("release/1.x:CHANGELOG.md", "# Old line\n");
    files.set("main:package.json", '{"name":"app"}');
  });
  afterEach(async () => {
    const { violations } = world.hub;
    await world[Symbol.asyncDispose]();
    expect(violations).toEqual([]);
  });
  const read = (path: string, ref: string | null = null, repository = "acme/app") =>
    world.open(repository, mode).readFile?.(path, ref) ?? Promise.resolve(null);

  test.each<[string, string | null, string | null]>([
    ["CHANGELOG.md", null, "# Now\n"],
    ["/CHANGELOG.md", null, "# Now\n"],
    ["CHANGELOG.md", "release/1.x", "# Old line\n"],
    ["docs/über uns/1.0#a.md", null, "# Notes\n"],
    ["package.json", null, '{"name":"app"}'],
    ["NEWS.md", null, null],
    ["CHANGELOG.md", "v9", null],
  ])("%p at %p", async (path, ref, text) => {
    expect(await read(path, ref)).toBe(text);
    expect(world.hub.take().length).toBe(1);
  });

  test("of a renamed repository are read at its new place", async () => {
    expect(await read("CHANGELOG.md", null, "acme/old")).toBe("# Now\n");
  });

  test.each(["docs/../../../user", "a//b", "", ".", "docs/"])("%p is refused before anything is sent", async (path) => {
    expect((await failureOf(read(path))).code).toBe("rejected");
    expect(world.hub.take()).toEqual([]);
  });

  test("a folder is no file", async () => {
    const failure = await failureOf(read("docs"));
    expect([failure.code, failure.message]).toEqual(["rejected", expect.stringContaining("is a folder")]);
  });

  test("that are unchanged are not transferred again", async () => {
    await read("CHANGELOG.md");
    expect(await read("CHANGELOG.md")).toBe("# Now\n");
    expect(world.hub.seen.map(({ status }) => status)).toEqual([200, 304]);
  });

  test("another refusal than 404 is an error and no missing file", async () => {
    world.hub.fault = () => jsonAnswer(403, { message: "Resource not accessible by personal access token" });
    const failure = await failureOf(read("CHANGELOG.md"));
    expect([failure.code, failure.message]).toEqual(["unauthorized", expect.stringContaining("not accessible")]);
  });
});
