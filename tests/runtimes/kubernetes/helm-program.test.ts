import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../src/clock.ts";
import { type Helm, openHelm } from "../../../src/runtimes/kubernetes/helm/program.ts";
import { eventually } from "../../support/eventually.ts";

const access = {
  server: new URL("https://cluster.test:6443"),
  tls_server_name: null,
  ca: "-----BEGIN CERTIFICATE-----",
  cert: null,
  key: null,
  authorization: "Bearer very-secret-token",
};

/** What helm may do to us: each test writes the program. */
describe("a helm program", () => {
  let directory: string;
  let over: AbortController;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "tidemark-program-"));
    over = new AbortController();
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const folders = () => (existsSync(join(directory, "helm")) ? readdirSync(join(directory, "helm")) : []);
  const write = (script: string): Helm => {
    const program = join(directory, "helm-program");
    writeFileSync(program, `#!/bin/sh\n${script}\n`);
    chmodSync(program, 0o755);
    return open(program);
  };
  const open = (program: string) =>
    openHelm({
      ...{ access, clock: systemClock, signal: over.signal },
      self: { hostname: "here", data_dir: directory, helm: { program, search_path: process.env.PATH ?? "" } },
    });
  const call = { args: ["upgrade", "web"], driver: "secret", timeout_ms: 60_000 } as const;
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => {
        throw new Error("It succeeded");
      },
      (error: { said?: { code: string } }) => error.said?.code ?? String(error),
    );

  test("tells its version; one that is missing, too old or none is named", async () => {
    expect(await write("echo v3.22.0").version()).toBe("3.22.0");
    expect(await failure(open(join(directory, "nothing")).version())).toBe("kubernetes.helm_missing");
    expect(await failure(write("echo v3.13.9").version())).toBe("kubernetes.helm_old");
    expect(await failure(write("echo hello").version())).toBe("kubernetes.helm_strange");
    expect(await failure(write("exit 3").version())).toBe("kubernetes.helm_strange");
  });

  test("gets nothing of ours but a private folder, which is removed", async () => {
    process.env.TIDEMARK_TEST_SECRET = "of our own";
    const helm = write(
      'env | cut -d= -f1 | sort; stat -c %a "$HOME" "$KUBECONFIG"; cat "$KUBECONFIG"; echo; echo "$@"',
    );
    const { is_done, stdout } = await helm.run({
      ...call,
      args: ["x", "{folder}/chart.tgz"],
      files: { "chart.tgz": new Uint8Array([1]) },
    });
    delete process.env.TIDEMARK_TEST_SECRET;
    expect(is_done).toBe(true);
    const names = stdout.split("\n").filter((line) => /^[A-Z_]+$/.test(line) && line !== "_" && line !== "PWD");
    expect(names).toEqual([
      "HELM_CACHE_HOME",
      "HELM_CONFIG_HOME",
      "HELM_DATA_HOME",
      "HELM_DRIVER",
      "HELM_PLUGINS",
      "HOME",
      "KUBECONFIG",
      "PATH",
    ]);
    expect(stdout).toContain("700\n600\n");
    expect(stdout).toContain('"server":"https://cluster.test:6443/"');
    const words = stdout.trim().split("\n").at(-1) ?? "";
    expect(words).toMatch(/^x \/.*\/chart\.tgz --kubeconfig \/.*\/kubeconfig$/);
    expect(words).not.toContain("very-secret");
    expect(folders()).toEqual([]);
  });

  test.each([
    ["its last error", 'echo "WARNING: x" >&2; echo "Error: it broke" >&2; exit 1', "it broke"],
    ["our login taken out", 'echo "Error: bad token very-secret-token" >&2; exit 1', "bad token ***"],
    ["nothing", "exit 7", ""],
  ])("that fails is quoted with %s", async (_what, script, said) => {
    const result = await write(script).run(call);
    expect(result).toMatchObject({ is_done: false, said: { code: "text.plain", params: { text: said } } });
  });

  test("that was killed, prints without end or does not end has no words", async () => {
    expect(await write("kill -9 $$").run(call)).toMatchObject({ is_done: false, said: null });
    expect(await write("exec cat /dev/zero").run(call)).toMatchObject({ is_done: false, said: null });
    expect(await write("exec sleep 600").run({ ...call, timeout_ms: 100 })).toMatchObject({
      is_done: false,
      said: null,
    });
    expect(folders()).toEqual([]);
  });

  test("is ended with the session; one of a run goes on, and the next process waits for it", async () => {
    const helm = write(`touch ${directory}/begun; exec sleep 600`);
    const looking = helm.run(call);
    await eventually("it runs", () => existsSync(join(directory, "begun")));
    over.abort(new Error("closed"));
    expect(await failure(looking)).toBe("Error: closed");
    expect(folders()).toEqual([]);

    over = new AbortController();
    const lasting = write(`echo $$ > ${directory}/id; while [ ! -e ${directory}/go ]; do sleep 0.05; done`);
    const running = lasting.run({ ...call, folder: "run-1" });
    const id = await eventually(
      "it runs",
      () => existsSync(join(directory, "id")) && readFileSync(join(directory, "id"), "utf8").trim(),
    );
    over.abort(new Error("closed"));
    expect(await failure(running)).toBe("Error: closed");
    expect(folders()).toEqual(["run-1"]);
    expect(existsSync(`/proc/${id}`)).toBe(true);
    over = new AbortController();
    const waiting = write("true").awaitEnd("run-1", over.signal);
    writeFileSync(join(directory, "go"), "");
    await waiting;
    expect(existsSync(`/proc/${id}`)).toBe(false);
    expect(folders()).toEqual([]);
  });

  test("folders that a killed process left behind are removed after a while", async () => {
    for (const name of ["old", "fresh"]) mkdirSync(join(directory, "helm", name), { recursive: true });
    const past = new Date(systemClock.now() - 3_600_000);
    utimesSync(join(directory, "helm", "old"), past, past);
    await write("true").run(call);
    expect(folders()).toEqual(["fresh"]);
  });
});
