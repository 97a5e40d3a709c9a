import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../src/clock.ts";
import { plain, say } from "../../../src/messages/message.ts";
import { clearFolders, type Helm, openHelm } from "../../../src/runtimes/kubernetes/helm/program.ts";
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
  let written = 0;
  const write = (script: string): Helm => {
    // A name of its own: what is usable is remembered by its name.
    written += 1;
    const program = join(directory, `helm-program-${written}`);
    writeFileSync(program, `#!/bin/sh\n${script}\n`);
    chmodSync(program, 0o755);
    return open(program);
  };
  const open = (program: string) =>
    openHelm({
      ...{ access, clock: systemClock, signal: over.signal },
      self: { ...self(), helm: { program, search_path: process.env.PATH ?? "" } },
    });
  const self = () => ({ hostname: "here", data_dir: directory });
  const call = { args: ["upgrade", "web"], driver: "secret", timeout_ms: 60_000 } as const;
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => {
        throw new Error("It succeeded");
      },
      (error: { said?: { code: string } }) => error.said?.code ?? String(error),
    );

  test("may be used from 3.14 on; one that is missing, too old or none is named", async () => {
    const problem = async (helm: Helm) => (await helm.findProblem())?.code ?? null;
    expect(await problem(write("echo v3.22.0"))).toBeNull();
    expect(await problem(write("echo v4.3.1"))).toBeNull();
    expect(await problem(open(join(directory, "nothing")))).toBe("kubernetes.helm_missing");
    expect(await write("echo v3.13.9").findProblem()).toEqual(
      say("kubernetes.helm_old", { version: "3.13.9", oldest: "3.14" }),
    );
    expect(await problem(write("echo hello"))).toBe("kubernetes.helm_strange");
    expect(await problem(write("exit 3"))).toBe("kubernetes.helm_strange");
  });

  test("is asked for its version once in a while; one that cannot be used is asked again", async () => {
    const usable = write(`echo >> ${directory}/asked; echo v3.22.0`);
    for (let look = 0; look < 3; look++) expect(await usable.findProblem()).toBeNull();
    expect(readFileSync(join(directory, "asked"), "utf8")).toBe("\n");
    const installed = join(directory, "later");
    expect((await open(installed).findProblem())?.code).toBe("kubernetes.helm_missing");
    writeFileSync(installed, "#!/bin/sh\necho v3.22.0\n");
    chmodSync(installed, 0o755);
    expect(await open(installed).findProblem()).toBeNull();
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
    for (const own of [{}, { folder: "run-1" }]) {
      const result = await write(script).run({ ...call, ...own });
      expect(result).toMatchObject({ is_done: false, said: { code: "text.plain", params: { text: said } } });
    }
    expect(folders()).toEqual([]);
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

  test("that is a script around another program is ended with it", async () => {
    const script = `echo $$ > ${directory}/id; (trap "" TERM; echo begun >> ${directory}/id; sleep 600) & wait`;
    for (const around of ["sleep 600; true", "cat /dev/zero; true", script]) {
      expect(await write(around).run({ ...call, timeout_ms: 300 })).toMatchObject({ is_done: false, said: null });
    }
    expect(folders()).toEqual([]);
  }, 40_000);

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

  test("that says very much before its error is heard to its end, also where it would outlive this process", async () => {
    const helm = write('seq -f "warning %.0f of very-secret-token" 1 20000 >&2; echo "Error: no room" >&2; exit 1');
    for (const folder of [undefined, "run-1"]) {
      const { is_done, said } = await helm.run({ ...call, ...(folder === undefined ? {} : { folder }) });
      expect([is_done, said]).toEqual([false, plain("no room")]);
    }
    // Without an error, the end is what it said.
    const silent = write('seq -f "warning %.0f" 1 20000 >&2; exit 1');
    const { said } = await silent.run({ ...call, folder: "run-1" });
    expect(said?.params.text).toMatch(/^warning 1\d{4}\n/);
  });

  const leave = (name: string) => {
    mkdirSync(join(directory, "helm", name), { recursive: true });
    const kubeconfig = join(directory, "helm", name, "kubeconfig");
    writeFileSync(kubeconfig, "{}");
    return kubeconfig;
  };

  test("leaves no folder of a killed process behind, but one that a helm still works in until that has ended", async () => {
    leave("left");
    const working = Bun.spawn(["tail", "-f", leave("run-1")], { stdout: "ignore" });
    await write("true").run(call);
    expect(folders()).toEqual(["run-1"]);

    leave("left");
    const clearing = clearFolders({ clock: systemClock, signal: over.signal, self: self() });
    await eventually("the unused one is removed", () => folders().length === 1);
    expect(folders()).toEqual(["run-1"]);
    working.kill();
    await clearing;
    expect(folders()).toEqual([]);
  });

  test("that runs several times at once keeps the folder of each call", async () => {
    const helm = write('exec cat "$KUBECONFIG"');
    const calls = Array.from({ length: 12 }, async () => {
      await clearFolders({ clock: systemClock, signal: over.signal, self: self() });
      return await helm.run(call);
    });
    for (const { is_done } of await Promise.all(calls)) expect(is_done).toBe(true);
    expect(folders()).toEqual([]);
  });
});
