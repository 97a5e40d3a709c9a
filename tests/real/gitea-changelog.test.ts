import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Gitea, giteaMissing, startGitea } from "../peers/gitea.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, firstSignIn, type RunningServer, startServer } from "../support/server.ts";

setDefaultTimeout(120_000);

const changelog = "# Changelog\n\n## [1.1.0] - 2024-02-01\n\n- second\n\n## [1.0.0] - 2024-01-01\n\n- first\n";

peerSuite("a changelog in a real Gitea", giteaMissing(), () => {
  let forge: Gitea;
  let server: RunningServer;
  let api: ApiClient;

  const write = (path: string, text: string) =>
    forge.api("POST", `/repos/acme/app/contents/${path}`, {
      content: Buffer.from(text).toString("base64"),
      message: "write",
    });
  const release = (tag_name: string) =>
    forge.api("POST", "/repos/acme/app/releases", { tag_name, target_commitish: "main", body: "from the release" });
  /** Follows the repository, and gives the notes of its releases when the first check has ended. */
  const follow = async (name: string, release_notes: object) => {
    const sources = [
      {
        key: "git",
        kind: "gitea",
        config: { repository: "acme/app", instance_url: forge.url },
        channels: [{ type: "stable" }],
      },
    ];
    const created = await api.post("/trackers", { name, sources, release_notes });
    expect([created.status, created.body]).toMatchObject([201, {}]);
    await eventually("the first check", async () => (await api.get(`/trackers/${name}`)).body.state === "ok");
    const { body } = await api.get(`/trackers/${name}/notes?from=0.1.0`);
    const versions = Array.isArray(body.versions) ? body.versions : [];
    return versions.map(({ version, notes, notes_error }) => [version, notes ?? notes_error]);
  };

  beforeAll(async () => {
    forge = await startGitea();
    await forge.api("POST", "/orgs", { username: "acme" });
    await forge.api("POST", "/orgs/acme/repos", { name: "app", auto_init: true, default_branch: "main" });
    await write("notes/1.0.0.md", "file of 1.0.0");
    await release("v1.0.0");
    await write("CHANGELOG.md", changelog);
    await release("v1.1.0");
    await release("v1.2.0");
    server = await startServer();
    api = await firstSignIn(server);
  });
  afterAll(async () => {
    await server?.kill("SIGTERM");
    await forge?.stop();
  });

  test("is read on the default branch, section by section", async () => {
    expect(await follow("branch", { source: "changelog" })).toEqual([
      ["1.2.0", "The changelog has no section for v1.2.0"],
      ["1.1.0", "- second"],
      ["1.0.0", "- first"],
    ]);
    const lines = server.lines.filter((line) => line.includes("tracker=branch"));
    expect(lines.at(-1)).toContain("requests=3");
  });

  test("is read at each release's tag", async () => {
    expect(await follow("tag", { source: "changelog", ref: "release_tag" })).toEqual([
      ["1.2.0", "The changelog has no section for v1.2.0"],
      ["1.1.0", "- second"],
      ["1.0.0", 'There is no file "CHANGELOG.md" at "v1.0.0"'],
    ]);
  });

  test("is one file for each version", async () => {
    const settings = { source: "changelog", path_template: "notes/{version}.md", extraction: "entire_file" };
    expect((await follow("files", settings)).at(-1)).toEqual(["1.0.0", "file of 1.0.0"]);
  });
});
