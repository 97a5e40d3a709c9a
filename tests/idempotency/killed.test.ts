import { afterAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { randomFrom } from "../support/random.ts";
import { type ApiClient, apiClient, firstSignIn, startServer, temporaryDir } from "../support/server.ts";

/** More of them find rarer moments. */
const rounds = Number(process.env.TIDEMARK_CRASH_ROUNDS ?? "1");
const random = randomFrom(7);

const dataDir = temporaryDir();
let api: ApiClient | null = null;
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test.each(Array.from({ length: rounds }, (_, round) => round))(
  "what was asked for when the process was killed is there once after asking again, round %i",
  async (round) => {
    const first = await startServer({ data_dir: dataDir });
    api = api === null ? await firstSignIn(first) : apiClient(first.url, api.token);
    const create = (url: string, name: string) =>
      fetch(`${url}/api/credentials`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${api?.token}`,
          "content-type": "application/json",
          "idempotency-key": `key-${name}`,
        },
        body: JSON.stringify({ name, kind: "github", secret: { token: "ghp_example" } }),
      });
    const names = Array.from({ length: 20 }, (_, index) => `round-${round}-${String(index).padStart(2, "0")}`);
    const asked = names.map((name) =>
      create(first.url, name).then(
        (answer) => answer.status,
        () => null,
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, random(60)));
    await first.kill("SIGKILL");
    await Promise.all(asked);

    const second = await startServer({ data_dir: dataDir });
    try {
      const answers = await Promise.all(names.map((name) => create(second.url, name)));
      // A second creation would be refused, because names are taken once.
      expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201));
      const bodies = await Promise.all(answers.map((answer) => answer.json() as Promise<{ name: string }>));
      expect(bodies.map(({ name }) => name)).toEqual(names);
    } finally {
      await second.kill("SIGTERM");
    }
  },
  120_000,
);
