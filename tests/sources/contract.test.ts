import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { systemClock } from "../../src/clock.ts";
import { PluginError } from "../../src/errors.ts";
import { fields } from "../../src/forms/fields.ts";
import { plain } from "../../src/messages/message.ts";
import type { PluginContext } from "../../src/plugin.ts";
import { sources } from "../../src/sources/index.ts";
import { type ListRequest, type SourceKind, sourceKinds } from "../../src/sources/source.ts";

interface Sample {
  good: Record<string, unknown>;
  host: string;
  image_name?: string;
  secret: unknown;
  /** Configurations to refuse, each with the field that has to be named. */
  bad: readonly [config: Record<string, unknown>, field: string][];
}

/** What the suite needs to know of a kind: the compiler asks for it when a kind is added. */
const samples: { readonly [K in SourceKind]: Sample } = {
  gitea: {
    good: { repository: "owner/app", instance_url: "https://gitea.example/forge" },
    host: "gitea.example",
    secret: { token: "secret-of-the-contract" },
    bad: [
      [{ instance_url: "https://gitea.example" }, "repository"],
      [{ repository: "owner", instance_url: "https://gitea.example" }, "repository"],
      [{ repository: "owner/..", instance_url: "https://gitea.example" }, "repository"],
      [{ repository: "https://other.example/owner/app", instance_url: "https://gitea.example" }, "repository"],
      [{ repository: "owner/app" }, "instance_url"],
      [{ repository: "owner/app", instance_url: "ftp://gitea.example" }, "instance_url"],
      [{ repository: "owner/app", instance_url: "https://user:pass@gitea.example" }, "instance_url"],
      [{ repository: "owner/app", instance_url: "https://gitea.example", another: "field" }, "another"],
    ],
  },
  github: {
    good: { repository: "owner/app", fetch_mode: "rest", instance_url: "https://github.example" },
    host: "github.example",
    secret: { token: "ghp_secret-of-the-contract" },
    bad: [
      [{}, "repository"],
      [{ repository: "owner" }, "repository"],
      [{ repository: "owner/../app" }, "repository"],
      [{ repository: "https://other.example/owner/app", instance_url: "https://github.example" }, "repository"],
      [{ repository: "owner/app", fetch_mode: "both" }, "fetch_mode"],
      [{ repository: "owner/app", instance_url: "ftp://github.example" }, "instance_url"],
      [{ repository: "owner/app", instance_url: "https://github.example/owner/app" }, "instance_url"],
      [{ repository: "owner/app", instance_url: "https://user:pass@github.example" }, "instance_url"],
      [{ repository: "owner/app", another: "field" }, "another"],
    ],
  },
  gitlab: {
    good: { project: "group/sub/project", instance_url: "https://gitlab.example" },
    host: "gitlab.example",
    secret: { token: "glpat-secret-of-the-contract" },
    bad: [
      [{}, "project"],
      [{ project: "" }, "project"],
      [{ project: "alone" }, "project"],
      [{ project: "group/../project" }, "project"],
      [{ project: "https://other.example/group/project", instance_url: "https://gitlab.example" }, "project"],
      [{ project: "group/project", instance_url: "ftp://gitlab.example" }, "instance_url"],
      [{ project: "group/project", instance_url: "https://user:pass@gitlab.example" }, "instance_url"],
      [{ project: "group/project", another: "field" }, "another"],
    ],
  },
  helm: {
    good: { chart: "app", repository_url: "https://charts.example/stable" },
    host: "charts.example",
    secret: { basic_auth: "ci:secret-of-the-contract" },
    bad: [
      [{ repository_url: "https://charts.example" }, "chart"],
      [{ chart: "app" }, "repository_url"],
      [{ chart: "../app", repository_url: "https://charts.example" }, "chart"],
      [{ chart: "app", repository_url: "charts.example" }, "repository_url"],
      [{ chart: "app", repository_url: "ftp://charts.example" }, "repository_url"],
      [{ chart: "app", repository_url: "https://user:pass@charts.example" }, "repository_url"],
      [{ chart: "app", repository_url: "oci://user:pass@charts.example/path" }, "repository_url"],
      [{ chart: "app", repository_url: "oci://charts.example/Upper" }, "repository_url"],
      [{ chart: "app", repository_url: "https://charts.example", another: "field" }, "another"],
    ],
  },
  oci: {
    good: { image: "ghcr.io/owner/app:1.0", registry: "", published_at_mode: "auto" },
    host: "ghcr.io",
    image_name: "ghcr.io/owner/app",
    secret: { username: "ci", password: "secret-of-the-contract" },
    bad: [
      [{}, "image"],
      [{ image: "Not An Image" }, "image"],
      [{ image: "app", registry: "ftp://registry.example" }, "registry"],
      [{ image: "app", published_at_mode: "never" }, "published_at_mode"],
      [{ image: "app", another: "field" }, "another"],
    ],
  },
};

const request: ListRequest = { limit: 10, accepts: [() => true], known: new Map(), watch: [], memo: null };

function contextOf(answer: () => Response): { context: PluginContext; asked: URL[] } {
  const asked: URL[] = [];
  const fetch = async (url: URL) => {
    asked.push(url);
    return answer();
  };
  return { context: { fetch, signal: new AbortController().signal, clock: systemClock }, asked };
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => null,
    (error: unknown) => error,
  );
}

test("every folder of sources/ is a registered kind, and every kind has its folder", () => {
  const root = join(import.meta.dir, "../../src/sources");
  // What the forges share is no kind of its own.
  const entries = readdirSync(root, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory() && entry.name !== "forge");
  expect(folders.map((entry) => entry.name).toSorted()).toEqual([...sourceKinds].toSorted());
  expect(Object.keys(sources).toSorted()).toEqual([...sourceKinds].toSorted());
  for (const kind of sourceKinds) expect(existsSync(join(root, kind, `${kind}.ts`))).toBe(true);
});

describe.each([...sourceKinds])("source %s", (kind) => {
  const source = sources[kind];
  const { good, bad, host, image_name, secret } = samples[kind];

  test("is registered under its own kind, with a title for people", () => {
    expect(source.kind).toBe(kind);
    expect(source.title).toMatch(/^\p{Lu}.+/u);
  });

  test("describes each field of its form", () => {
    const described = fields(source.Config);
    expect(described.length).toBeGreaterThan(0);
    for (const field of described) {
      expect(field.name).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
      expect(field.title).not.toBe(field.name);
      expect(field.title).toMatch(/^\p{Lu}.+[^.]$/u);
    }
  });

  test("stores a good configuration so that it parses to itself", () => {
    const stored = v.parse(source.Config, good);
    expect(v.parse(source.Config, JSON.parse(JSON.stringify(stored)))).toEqual(stored);
  });

  test("names the host that is counted", () => {
    expect(source.host(good)).toBe(host);
  });

  test.each([...bad])("refuses %p and names %p", (config, field) => {
    const parsed = v.safeParse(source.Config, config);
    expect(parsed.issues?.map((issue) => v.getDotPath(issue))).toEqual([field]);
    const { context } = contextOf(() => new Response());
    for (const attempt of [() => source.open(config, null, context), () => source.host(config)]) {
      expect(attempt).toThrow(PluginError);
      expect(attempt).toThrow(`"${field}"`);
    }
  });

  test("sends nothing when it is opened", () => {
    const { context, asked } = contextOf(() => new Response());
    const opened = source.open(good, secret, context);
    expect(opened.imageName).toBe(image_name);
    expect(asked).toEqual([]);
  });

  test("refuses a secret of another kind without repeating it", () => {
    const { context } = contextOf(() => new Response());
    const wrong = { unexpected: "secret-of-the-contract" };
    let error: unknown = null;
    try {
      source.open(good, wrong, context);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(PluginError);
    expect(String(error)).not.toContain("secret-of-the-contract");
  });

  test.each<[string, () => Response]>([
    ["a web page", () => new Response("<html>hello</html>", { headers: { "content-type": "text/html" } })],
    ["nothing", () => new Response("")],
    ["half a JSON", () => new Response('{"a":[1,')],
    ["a list of numbers", () => Response.json([1])],
    ["401", () => new Response("", { status: 401 })],
    ["403", () => new Response("", { status: 403 })],
    ["404", () => new Response("", { status: 404 })],
    ["429", () => new Response("", { status: 429 })],
    ["500", () => new Response("", { status: 500 })],
  ])("throws a PluginError that people can read for %s", async (_, answer) => {
    const { context, asked } = contextOf(answer);
    const opened = source.open(good, secret, context);
    const failures = [await failureOf(opened.listReleases(request))];
    if (opened.listNames !== undefined) failures.push(await failureOf(opened.listNames()));
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(PluginError);
      expect(String(failure)).toMatch(/^PluginError: \p{Lu}.*[^.]$/u);
      expect(String(failure).length).toBeLessThanOrEqual(520);
      expect(String(failure)).not.toContain("secret-of-the-contract");
    }
    expect(asked.length).toBeGreaterThan(0);
    expect(new Set(asked.map((url) => url.host))).toEqual(new Set([host]));
  });

  test("passes on what the bounded fetch throws", async () => {
    const unreachable = new PluginError("unreachable", plain("Could not reach the host"));
    const { context } = contextOf(() => {
      throw unreachable;
    });
    expect(await failureOf(source.open(good, null, context).listReleases(request))).toBe(unreachable);
  });
});
