import { afterAll, expect, test } from "bun:test";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/clock.ts";
import { PluginError } from "../../src/errors.ts";
import { listTagCommits } from "../../src/sources/forge/git-refs.ts";
import { commitFile, type GitServer, gitMissing, runGit, startGitServer } from "../peers/git-http.ts";
import { peerSuite } from "../support/peer.ts";
import { realHttp } from "../support/real-http.ts";

peerSuite("listTagCommits() on git's own server", gitMissing(), () => {
  const http = realHttp(systemClock);
  const servers: GitServer[] = [];
  const started = (...options: Parameters<typeof startGitServer>) => {
    const server = startGitServer(...options);
    servers.push(server);
    return server;
  };
  afterAll(async () => {
    http.close();
    for (const server of servers) await server.stop();
  });

  /** A repository with a light tag, an annotated one, one around that, one in a folder, and one of bytes that are no text. */
  function fill(repository: string): { one: string; two: string } {
    const one = commitFile(repository, "a.txt", "one");
    runGit(repository, "tag", "v1.0.0", one);
    runGit(repository, "tag", "-a", "-m", "annotated", "v1.1.0", one);
    runGit(repository, "tag", "-a", "-m", "nested", "nested", "v1.1.0");
    const two = commitFile(repository, "a.txt", "two");
    runGit(repository, "tag", "-a", "-m", "annotated", "release/2.0.0", two);
    runGit(repository, "tag", "版本-3", two);
    runGit(repository, "pack-refs", "--all");
    // The command line is text; git itself takes any bytes.
    const refs = Buffer.concat([Buffer.from(`${two} refs/tags/z`), Buffer.from([0xff, 0xfe]), Buffer.from("\n")]);
    appendFileSync(join(repository, "packed-refs"), refs);
    return { one, two };
  }

  const expected = ({ one, two }: { one: string; two: string }) =>
    new Map([
      ["nested", one],
      ["release/2.0.0", two],
      ["v1.0.0", one],
      ["v1.1.0", one],
      ["版本-3", two],
    ]);

  test("gives each tag its commit by one request", async () => {
    const server = started();
    const commits = fill(server.create("acme/app"));
    for (const address of ["acme/app", "acme/app.git", "acme/app/"]) {
      const tags = await listTagCommits(new URL(`${server.url}/${address}`), http.open(), null, () => null);
      expect(new Map([...tags].toSorted(([a], [b]) => (a < b ? -1 : 1)))).toEqual(expected(commits));
    }
    expect(server.seen.map((request) => [request.line, request.git_protocol, request.status])).toEqual(
      Array.from({ length: 3 }, () => ["POST /acme/app.git/git-upload-pack", "version=2", 200]),
    );
  });

  test("asks the old way where the version is not passed on", async () => {
    const server = started({ passes_version: false });
    const commits = fill(server.create("app"));
    const tags = await listTagCommits(new URL(`${server.url}/app`), http.open(), null, () => null);
    expect(new Map([...tags].toSorted(([a], [b]) => (a < b ? -1 : 1)))).toEqual(expected(commits));
    expect(server.seen.map((request) => request.line)).toEqual([
      "POST /app.git/git-upload-pack",
      "GET /app.git/info/refs?service=git-upload-pack",
    ]);
  });

  test("reads repositories whose objects have SHA-256 names", async () => {
    const server = started();
    const repository = server.create("app", "sha256");
    const commit = commitFile(repository, "a.txt", "one");
    runGit(repository, "tag", "-a", "-m", "annotated", "v1", commit);
    expect(commit).toHaveLength(64);
    const tags = await listTagCommits(new URL(`${server.url}/app`), http.open(), null, () => null);
    expect([...tags]).toEqual([["v1", commit]]);
  });

  test.each([true, false])("finds nothing in an empty repository (version 2: %p)", async (passes_version) => {
    const server = started({ passes_version });
    server.create("app");
    const tags = await listTagCommits(new URL(`${server.url}/app`), http.open(), null, () => null);
    expect([...tags]).toEqual([]);
  });

  test("sends the header that it is given, and says what a refusal means", async () => {
    const authorization = "Basic dXNlcjpwYXNz";
    const server = started({ authorization });
    server.create("app");
    const ask = (path: string, header: string | null) =>
      listTagCommits(new URL(`${server.url}/${path}`), http.open(), header, () => null);
    expect([...(await ask("app", authorization))]).toEqual([]);
    const failures = [await ask("app", null).catch(String), await ask("missing", authorization).catch(String)];
    const host = new URL(server.url).host;
    expect(failures).toEqual([
      `PluginError: Could not list the tags of "${host}/app": the response was 401: Sign in first`,
      expect.stringContaining(`Could not list the tags of "${host}/missing": the response was 404`),
    ]);
    await expect(ask("app", "Basic d3Jvbmc=")).rejects.toMatchObject({ code: "unauthorized" });
    await expect(ask("missing", authorization)).rejects.toMatchObject({ code: "not_found" });
    await expect(ask("missing", authorization)).rejects.toBeInstanceOf(PluginError);
  });

  test("reads 30,000 tags in one request", async () => {
    const server = started();
    const repository = server.create("app");
    const commit = commitFile(repository, "a.txt", "one");
    const lines = Array.from({ length: 30_000 }, (_, index) => `${commit} refs/tags/v1.${index}.0\n`).toSorted();
    writeFileSync(join(repository, "packed-refs"), `# pack-refs with: peeled fully-peeled sorted \n${lines.join("")}`);
    const tags = await listTagCommits(new URL(`${server.url}/app`), http.open(), null, () => null);
    expect([tags.size, tags.get("v1.29999.0"), server.seen.length]).toEqual([30_000, commit, 1]);
  });
});
