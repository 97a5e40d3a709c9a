import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/db/client.ts";
import { type RunningServer, startServer, temporaryDir } from "../support/server.ts";

const root = join(import.meta.dir, "../..");
const command = [process.execPath, "src/commands/reset-password.ts"];
let server: RunningServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.kill("SIGKILL"));

const environment = (dataDir: string) => ({
  PATH: process.env.PATH ?? "",
  HOME: process.env.HOME ?? "",
  DATA_DIR: dataDir,
});

async function reset(args: readonly string[], input: string | Uint8Array<ArrayBuffer>, dataDir = server.data_dir) {
  const child = Bun.spawn([...command, ...args], {
    cwd: root,
    env: environment(dataDir),
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, text: output + errors };
}

/** Types at a terminal of its own: each answer after its question. */
async function type(answers: readonly [question: string, answer: string | Uint8Array][]) {
  let shown = "";
  const waiting = [...answers];
  const child = Bun.spawn(command, {
    cwd: root,
    env: environment(server.data_dir),
    terminal: {
      cols: 100,
      rows: 30,
      data: (terminal, chunk) => {
        shown += Buffer.from(chunk).toString("utf8");
        const next = waiting[0];
        if (next === undefined || !shown.includes(next[0])) return;
        waiting.shift();
        terminal.write(next[1]);
      },
    },
  });
  return { code: await child.exited, shown };
}

const json = { "content-type": "application/json" };
const signIn = (password: string) =>
  fetch(`${server.url}/api/session`, {
    method: "POST",
    headers: json,
    body: JSON.stringify({ username: "admin", password }),
  });

describe("reset-password", () => {
  test("reads one line, ends the sessions of the running server at once, and signs in", async () => {
    const first = await (await signIn(server.bootstrapPassword() ?? "")).json();
    const state = () => fetch(`${server.url}/api/session`, { headers: { authorization: `Bearer ${first.token}` } });
    expect((await state()).status).toBe(200);
    const done = await reset(["--stdin"], "kelp-otter-lantern\nignored\n");
    expect(done).toMatchObject({ code: 0 });
    expect(done.text).not.toContain("kelp");
    expect((await state()).status).toBe(401);
    const again = await signIn("kelp-otter-lantern");
    expect(again.status).toBe(201);
    expect((await again.json()).password_change_required).toBe(false);
  });

  test("asks twice at a terminal and shows nothing of what is typed", async () => {
    const { code, shown } = await type([
      ["New password: ", "harbour-seal-潮汐x\u007f\r"],
      ["Repeat: ", "harbour-seal-潮汐\r"],
    ]);
    expect({ code, shown }).toMatchObject({ code: 0 });
    expect(shown).not.toContain("seal");
    expect((await signIn("harbour-seal-潮汐")).status).toBe(201);
  });

  test.each([
    ["two different answers", "first-kelp-otter\r", "second-kelp-otter\r", "The passwords do not match"],
    ["Ctrl-C", "first-kelp\u0003", "", "Input cancelled"],
    ["a short password", "short\r", "short\r", "at least 12"],
  ])("changes nothing after %s", async (_name, first, second, message) => {
    await reset(["--stdin"], "lighthouse-keeper-9\n");
    const { code, shown } = await type([
      ["New password: ", first],
      ["Repeat: ", second],
    ]);
    expect(shown).toContain(message);
    expect(code).toBe(1);
    expect((await signIn("lighthouse-keeper-9")).status).toBe(201);
  });

  test.each([
    ["bytes that are no UTF-8", new Uint8Array([...Buffer.from("caf"), 0xe9, ...Buffer.from(" lantern river\n")])],
    ["a byte order mark", new Uint8Array([0xef, 0xbb, 0xbf, ...Buffer.from("café lantern river\n")])],
  ])(
    "changes nothing for %s, from a pipe and at a terminal",
    async (_what, line) => {
      await reset(["--stdin"], "lighthouse-keeper-9\n");
      const piped = await reset(["--stdin"], line);
      const typed = await type([
        ["New password: ", line],
        ["Repeat: ", line],
      ]);
      for (const text of [piped.text, typed.shown]) {
        expect(text).toContain("The password was not changed.");
        expect(text).toMatch(/is not UTF-8|byte order mark/);
      }
      expect([piped.code, typed.code]).toEqual([1, 1]);
      expect((await signIn("lighthouse-keeper-9")).status).toBe(201);
    },
    60_000,
  );

  test("takes what is not UTF-8 behind the first line for nothing of the password", async () => {
    const input = new Uint8Array([...Buffer.from("café lantern river\n"), 0xff, 0xfe]);
    expect(await reset(["--stdin"], input)).toMatchObject({ code: 0 });
    expect((await signIn("café lantern river")).status).toBe(201);
  }, 30_000);

  test.each([[["hunter2-hunter2"]], [["--password=hunter2-hunter2"]], [["--stdin", "hunter2-hunter2"]]])(
    "refuses a password as an argument: %p",
    async (args) => {
      const { code, text } = await reset(args, "");
      expect(code).toBe(2);
      expect(text).toContain("cannot be passed as an argument");
      expect(text).not.toContain("hunter2");
    },
  );

  test("refuses to guess where the password comes from without a terminal", async () => {
    const { code, text } = await reset([], "kelp-otter-lantern\n");
    expect(code).toBe(2);
    expect(text).toContain("--stdin");
  });

  test("refuses an empty input", async () => {
    expect(await reset(["--stdin"], "")).toMatchObject({ code: 1 });
  });

  test("makes no database where there is none", async () => {
    const empty = join(temporaryDir(), "data");
    mkdirSync(empty);
    const { code, text } = await reset(["--stdin"], "kelp-otter-lantern\n", empty);
    expect(code).toBe(1);
    expect(text).toContain("There is no database");
    expect(existsSync(join(empty, "tidemark.db"))).toBe(false);
  });
});

test("reset-password works with the server stopped, and a start without the record is refused", async () => {
  const stopped = await startServer();
  await stopped.kill("SIGTERM");
  expect(await reset(["--stdin"], "kelp-otter-lantern\n", stopped.data_dir)).toMatchObject({ code: 0 });

  const db = await openDatabase({ url: `file:${stopped.data_dir}/tidemark.db` });
  await db.client.execute("DELETE FROM administrators");
  await db.close();
  const refused = await reset(["--stdin"], "kelp-otter-lantern\n", stopped.data_dir);
  expect(refused.code).toBe(1);
  expect(refused.text).toContain("administrator record is missing");
  const failure = await startServer({ data_dir: stopped.data_dir }).then(
    () => "it started",
    (error: unknown) => String(error),
  );
  expect(failure).toContain("administrator record is missing");
  expect(failure).toContain("restore the database from a backup");
  expect(failure).not.toContain("bootstrap password");
});
