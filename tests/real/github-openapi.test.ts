import { afterAll, beforeAll, expect, test } from "bun:test";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { type DescribedPath, descriptionMissing, readDescription } from "../peers/github-openapi.ts";
import { type GithubWorld, githubWorld, token } from "../sources/github/github-world.ts";
import { addRelease, addReleases } from "../sources/github/hub-content.ts";
import { peerSuite } from "../support/peer.ts";

/** Where a response's schema is in the description; shared responses are referred to by name. */
function pointerOf(responses: unknown, status: number): string | null {
  const response = Reflect.get(Object(responses), String(status));
  const shared = Reflect.get(Object(response), "$ref");
  return typeof shared === "string" ? shared : null;
}

peerSuite("the stand-in for GitHub", descriptionMissing(), () => {
  let world: GithubWorld;
  let judge: (path: DescribedPath, status: number, body: unknown) => string[];

  beforeAll(async () => {
    world = await githubWorld();
    const full = world.repository("acme", "app", { former: ["acme/old"] });
    addReleases(full, 3, { assets: 2 });
    addRelease(full, "v2.0.0-rc.1", "2026-06-01T00:00:00Z", { is_prerelease: true, notes: null });
    full.releases.push({ tag: "v3.0.0", is_draft: true, created_at: "2026-07-01T00:00:00Z", published_at: null });
    full.files.set("main:CHANGELOG.md", "# Changes\n");
    world.repository("acme", "empty");
    const description = readDescription();
    // OpenAPI 3.0 has words of its own beside JSON Schema's (`example`, `discriminator`); `nullable` is known to ajv.
    const ajv = new Ajv({ strict: false, allErrors: true, formats: { int64: true } });
    addFormats.default(ajv);
    ajv.addSchema({ $id: "github", ...description });
    judge = (path, status, body) => {
      const { responses } = Object(description.paths[path]);
      const shared = pointerOf(responses, status);
      const place = shared?.slice(1) ?? `/paths/${path.replaceAll("/", "~1")}/responses/${status}`;
      const validate = ajv.getSchema(`github#${encodeURI(`${place}/content/application~1json/schema`)}`);
      if (validate === undefined) return [`GitHub does not describe ${status} of ${path}`];
      validate(body);
      return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
    };
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
  });

  const get = async (path: string) => {
    const headers = {
      accept: "application/vnd.github+json",
      "x-github-api-version": "2022-11-28",
      authorization: `Bearer ${token}`,
    };
    const response = await fetch(`${world.hub.url}/api/v3${path}`, { headers, redirect: "manual" });
    return { status: response.status, body: await response.json() };
  };

  test.each<[string, number, DescribedPath]>([
    ["/repos/acme/app", 200, "/repos/{owner}/{repo}"],
    ["/repos/acme/old", 301, "/repos/{owner}/{repo}"],
    ["/repos/acme/none", 404, "/repos/{owner}/{repo}"],
    ["/repos/acme/app/releases?per_page=30", 200, "/repos/{owner}/{repo}/releases"],
    ["/repos/acme/app/releases?per_page=2&page=2", 200, "/repos/{owner}/{repo}/releases"],
    ["/repos/acme/empty/releases?per_page=30", 200, "/repos/{owner}/{repo}/releases"],
    ["/repos/acme/none/releases", 404, "/repos/{owner}/{repo}/releases"],
    ["/repos/acme/app/releases/tags/v1.0.0", 200, "/repos/{owner}/{repo}/releases/tags/{tag}"],
    ["/repos/acme/app/releases/tags/v9", 404, "/repos/{owner}/{repo}/releases/tags/{tag}"],
    ["/repos/acme/app/contents/NONE.md", 404, "/repos/{owner}/{repo}/contents/{path}"],
  ])("answers %s as GitHub describes %d", async (path, status, described) => {
    const answer = await get(path);
    expect(answer.status).toBe(status);
    expect(judge(described, status, answer.body)).toEqual([]);
  });

  test("would not pass with a field of another type, or without one", async () => {
    const { body } = await get("/repos/acme/app/releases/tags/v1.0.0");
    const path = "/repos/{owner}/{repo}/releases/tags/{tag}";
    expect(judge(path, 200, { ...body, draft: "no" })).toEqual(["/draft must be boolean"]);
    expect(judge(path, 200, { ...body, published_at: "yesterday" })).toEqual([
      '/published_at must match format "date-time"',
    ]);
    const { author: _, ...rest } = body;
    expect(judge(path, 200, rest)).toEqual([" must have required property 'author'"]);
  });
});
