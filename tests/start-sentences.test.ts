import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { peerSuite } from "./support/peer.ts";

const root = join(import.meta.dir, "..");
const folder = mkdtempSync(join(tmpdir(), "tidemark-sentences-"));
const mounts: string[] = [];
const servers: Server[] = [];

/** A file system of its own at a fresh folder; null where this process may not mount one. */
function mounted(name: string, options: string): string | null {
  const dir = mkdtempSync(join(folder, name));
  const result = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", `${options},mode=700`, "tmpfs", dir]);
  if (result.exitCode !== 0) return null;
  mounts.push(dir);
  return dir;
}

afterAll(() => {
  for (const dir of mounts) Bun.spawnSync(["umount", dir]);
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Listens on a free port, and says nothing to whoever comes. */
async function silentPort(): Promise<number> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

let installations = 0;
const freshDir = () => {
  installations += 1;
  return join(folder, `data-${installations}`);
};

/** The last lines of a start that is refused. */
async function refusal(env: Record<string, string>) {
  const child = Bun.spawn([process.execPath, "src/main.ts"], {
    cwd: root,
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", PORT: "0", DATA_DIR: freshDir(), ...env },
    stdout: "pipe",
    stderr: "pipe",
    stdin: "ignore",
  });
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, output, errors };
}

/** One sentence under the heading, whole. */
async function expectSentence(env: Record<string, string>, sentence: string) {
  const { code, output, errors } = await refusal(env);
  expect(errors).toBe(`Tidemark cannot start.\n${sentence}\n`);
  expect(code).toBe(1);
  expect(output).not.toContain("Tidemark is ready");
}

const readOnly = mounted("read-only-", "ro");
const full = mounted("full-", "size=64k");

describe("a start that cannot be says in one sentence what happened and what to do:", () => {
  test("the data directory is a file", async () => {
    const file = join(folder, "a-file");
    writeFileSync(file, "x");
    const says = (dir: string) =>
      `The data directory "${dir}" is not a folder: a file or a broken link is in its place; correct DATA_DIR`;
    await expectSentence({ DATA_DIR: file }, says(file));
    await expectSentence({ DATA_DIR: join(file, "below") }, says(join(file, "below")));
  });

  test("the data directory is a link that leads nowhere", async () => {
    const link = join(folder, "a-link");
    symlinkSync(join(folder, "nowhere"), link);
    await expectSentence(
      { DATA_DIR: link },
      `The data directory "${link}" is not a folder: a file or a broken link is in its place; correct DATA_DIR`,
    );
  });

  test("the folder of the database is not there", async () => {
    const missing = join(folder, "missing");
    await expectSentence(
      { DATABASE_URL: `file:${missing}/tidemark.db` },
      `The folder of the database "${missing}" does not exist; create it, or correct DATABASE_URL`,
    );
  });

  test("DATABASE_URL has a parameter", async () => {
    await expectSentence(
      { DATABASE_URL: `file:${folder}/with-parameter.db?mode=ro` },
      'DATABASE_URL cannot be used (URL_PARAM_NOT_SUPPORTED: Unsupported URL query parameter "mode"); correct it',
    );
  });

  test("a folder is in the place of the lock", async () => {
    const dir = freshDir();
    const lock = join(dir, "tidemark.lock");
    mkdirSync(lock, { recursive: true, mode: 0o700 });
    const { code, errors } = await refusal({ DATA_DIR: dir });
    expect([code, errors]).toEqual([1, expect.stringContaining(`The lock file "${lock}" cannot be used (`)]);
    expect(errors).toEndWith("; check what is in its place and move it away\n");
  });

  test("another program has the port", async () => {
    const port = String(await silentPort());
    await expectSentence(
      { PORT: port },
      `Port ${port} of 127.0.0.1 is in use; stop the program that uses it, or set PORT to another one`,
    );
  });

  test.each(["203.0.113.9", "no-such-host.invalid", "not a host"])("HOST is %p", async (host) => {
    await expectSentence(
      { HOST: host },
      `HOST is "${host}", and this machine has no such address; set 127.0.0.1, 0.0.0.0 or an address of its own`,
    );
  });

  const says = (port: number, what: string) =>
    `The database server "127.0.0.1:${port}" ${what}; check that it is running and that DATABASE_URL is right, then try again`;

  test("nothing listens at DATABASE_URL", async () => {
    await expectSentence({ DATABASE_URL: "http://127.0.0.1:1" }, says(1, "refused the connection"));
  });

  test("the server at DATABASE_URL does not answer", async () => {
    const port = await silentPort();
    await expectSentence({ DATABASE_URL: `http://127.0.0.1:${port}` }, says(port, "did not respond within 10 s"));
  });

  test.each([401, 403])("the server at DATABASE_URL answers %i", async (status) => {
    const strict = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("no", { status }) });
    try {
      await expectSentence(
        { DATABASE_URL: `http://127.0.0.1:${strict.port}`, DATABASE_AUTH_TOKEN: "an-old-token" },
        `The database server "127.0.0.1:${strict.port}" rejected the token (${status}); correct DATABASE_AUTH_TOKEN, then try again`,
      );
    } finally {
      await strict.stop(true);
    }
  });

  test("the name in DATABASE_URL does not exist", async () => {
    await expectSentence(
      { DATABASE_URL: "http://no-such-host.invalid" },
      'The database server "no-such-host.invalid" cannot be found: its name does not resolve; check that it is running and that DATABASE_URL is right, then try again',
    );
  });

  test("the server at DATABASE_URL is something else", async () => {
    const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("no", { status: 404 }) });
    const { code, errors } = await refusal({ DATABASE_URL: `http://127.0.0.1:${other.port}` });
    await other.stop(true);
    expect(code).toBe(1);
    expect(errors).toContain("correct DATABASE_URL");
    expect(errors).not.toContain("Restore a backup");
  });

  test("two first starts at once: one serves, the other names the directory", async () => {
    const dir = freshDir();
    const children = [1, 2].map(() =>
      Bun.spawn([process.execPath, "src/main.ts"], {
        cwd: root,
        env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", PORT: "0", DATA_DIR: dir },
        stdout: "ignore",
        stderr: "pipe",
        stdin: "ignore",
      }),
    );
    const loser = await Promise.race(children.map(async (child) => ({ child, code: await child.exited })));
    expect(loser.code).toBe(1);
    expect(await new Response(loser.child.stderr).text()).toBe(
      `Tidemark cannot start.\nAnother Tidemark process is using the data directory "${dir}"; stop it first, or set another DATA_DIR for this one\n`,
    );
    for (const child of children.filter((each) => each !== loser.child)) {
      expect(child.exitCode).toBeNull();
      child.kill("SIGKILL");
      await child.exited;
    }
  });
});

const missing = readOnly === null || full === null ? "this process may not mount a tmpfs" : null;
peerSuite("a start on a file system that takes no files says so in one sentence:", missing, () => {
  test("the data directory is read-only", async () => {
    for (const dir of [readOnly ?? "", join(readOnly ?? "", "below")]) {
      await expectSentence(
        { DATA_DIR: dir },
        `The data directory "${dir}" is read-only; mount it writable, or set DATA_DIR to another folder`,
      );
    }
  });

  test("the disk is full at the first start", async () => {
    const dir = full ?? "";
    expect(() => writeFileSync(join(dir, "tidemark.filler"), Buffer.alloc(100_000))).toThrow("ENOSPC");
    await expectSentence(
      { DATA_DIR: dir },
      `There is no room on the disk for the data directory "${dir}"; free space and start again`,
    );
  });
});
