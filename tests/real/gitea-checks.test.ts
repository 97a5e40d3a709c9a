import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runGit } from "../peers/git-http.ts";
import { type Gitea, giteaMissing, startGitea } from "../peers/gitea.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, firstSignIn, type RunningServer, startServer } from "../support/server.ts";

setDefaultTimeout(120_000);

peerSuite("a tracker on a real Gitea", giteaMissing(), () => {
  let forge: Gitea;
  let server: RunningServer;
  let api: ApiClient;
  const folder = mkdtempSync(join(tmpdir(), "tidemark-clone-"));

  const release = (tag_name: string, more: object = {}) =>
    forge.api("POST", "/repos/acme/app/releases", { tag_name, target_commitish: "main", ...more });
  /** Asks for a check and gives what the log says of it. */
  const check = async () => {
    const before = server.lines.length;
    expect((await api.post("/trackers/app/checks")).status).toBe(202);
    return await eventually("the end of the check", () =>
      server.lines.slice(before).find((text) => /Source checked|Check failed/.test(text)),
    );
  };
  const events = async () => {
    const { body } = await api.get("/events");
    const items = Array.isArray(body.items) ? body.items : [];
    return items.map((event) => `${event.kind} ${event.facts.channel} ${event.facts.tag}`);
  };

  beforeAll(async () => {
    forge = await startGitea();
    await forge.api("POST", "/orgs", { username: "acme" });
    const repository = { name: "app", auto_init: true, default_branch: "main", private: true };
    await forge.api("POST", "/orgs/acme/repos", repository);
    await release("v1.0.0", { body: "First" });
    await release("v1.1.0-rc.1", { prerelease: true });
    server = await startServer();
    api = await firstSignIn(server);
  });
  afterAll(async () => {
    await server?.kill("SIGTERM");
    await forge?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("follows a private repository by its pasted address, each channel by itself", async () => {
    const secret = { token: forge.createToken("read:repository") };
    const credential = await api.post("/credentials", { name: "forge", kind: "gitea", secret });
    expect(credential.status).toBe(201);
    const channels = [
      { type: "stable", release_type: "release" },
      { type: "prerelease", release_type: "prerelease" },
    ];
    const config = { repository: `${forge.url}/acme/app/releases` };
    const source = { key: "git", kind: "gitea", config, credential_id: credential.body.id, channels };
    const created = await api.post("/trackers", { name: "app", sources: [source] });
    expect(created.status).toBe(201);
    const tracker = await eventually("the first check", async () => {
      const { body } = await api.get("/trackers/app");
      return body.state === "ok" ? body : null;
    });
    expect(tracker.sources).toMatchObject([
      {
        config: { repository: "acme/app", instance_url: forge.url },
        channels: [{ latest: { tag: "v1.0.0" } }, { latest: { tag: "v1.1.0-rc.1" } }],
        moved_to: null,
      },
    ]);
    expect(await events()).toEqual([]);
  });

  test("an unchanged repository costs two requests", async () => {
    expect(await check()).toContain("requests=2");
  });

  test("announces a release while a newer pre-release leads", async () => {
    await release("v1.2.0-rc.1", { prerelease: true });
    await check();
    await release("v1.0.1");
    await check();
    expect((await events()).slice(0, 2)).toEqual(["new_release stable v1.0.1", "new_release prerelease v1.2.0-rc.1"]);
  });

  test("announces a tag that moved as republished, once", async () => {
    const work = join(folder, "app");
    runGit(folder, "clone", "--quiet", `http://owner:${forge.token}@${forge.host}/acme/app.git`, work);
    runGit(work, "commit", "--quiet", "--allow-empty", "-m", "next");
    runGit(work, "tag", "--force", "v1.0.1");
    runGit(work, "push", "--quiet", "--force", "origin", "main", "refs/tags/v1.0.1");
    const before = (await events()).length;
    await check();
    expect(await events()).toHaveLength(before + 1);
    expect((await events())[0]).toBe("republish stable v1.0.1");
    await check();
    expect(await events()).toHaveLength(before + 1);
  });

  test("says where a renamed repository is now", async () => {
    await forge.api("PATCH", "/repos/acme/app", { name: "renamed" });
    expect(await check()).toContain("requests=3");
    const { body } = await api.get("/trackers/app");
    expect(body).toMatchObject({ state: "ok", sources: [{ moved_to: "acme/renamed", error: null }] });
  });
});
