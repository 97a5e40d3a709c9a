import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { differences } from "../../src/runtimes/engine/compare.ts";
import { writeExport } from "../../src/runtimes/engine/export/write-export.ts";
import { isRunning } from "../../src/runtimes/engine/objects.ts";
import { readSnapshot, type Snapshot, snapshotBlueprint } from "../../src/runtimes/engine/snapshot.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { runScript } from "../support/break-glass.ts";
import { engineSuite } from "../support/engine-modes.ts";
import { images, importImages, openSession, removeContainers, target } from "../support/update-target.ts";

// A script restores a container of Podman with the `podman` command alone; a run's own comparison judges whether it is the same.
setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "tidemark-glass-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a person types between `podman create --name web` and the image, and what behind it. */
interface Row {
  options: readonly string[];
  command?: readonly string[];
}

const rows: readonly (readonly [what: string, row: Row])[] = [
  ["nothing of its own", { options: [] }],
  ["umask, time zone and timeout", { options: ["--umask=0077", "--tz=Europe/Berlin", "--timeout=3600"] }],
  ["a MAC address", { options: ["--network=front", "--mac-address=92:d0:c6:0a:29:33"] }],
  [
    "addresses, aliases and interfaces of two networks",
    {
      options: [
        "--network=front:ip=10.99.4.50,mac=92:d0:c6:0a:29:34,alias=www,interface_name=eth7",
        "--network=back:alias=inner",
      ],
    },
  ],
  ["a read-only root without writable folders", { options: ["--read-only", "--read-only-tmpfs=false"] }],
  ["a read-only root with writable folders", { options: ["--read-only"] }],
  [
    "a health check without a shell",
    { options: ['--health-cmd=["/bin/busybox", "test", "a \\"b\\" $c"]', "--health-interval=7s"] },
  ],
  ["a health check in a shell", { options: ["--health-cmd=test -d /bin || exit 1", "--health-retries=5"] }],
  ["a health check that is run by hand", { options: ["--health-cmd=true", "--health-interval=disable"] }],
  ["no health check", { options: ["--no-healthcheck"] }],
  [
    "what a failed health check does",
    { options: ["--health-cmd=true", "--health-on-failure=kill", "--health-start-period=3s"] },
  ],
  ["annotations", { options: ["--annotation=run.oci.keep_original_groups=1", "--annotation=mine=a=b c"] }],
  ["who it is", { options: ["--hostname=chosen", "--user=0:10", "--workdir=/tmp", "--stop-signal=SIGQUIT"] }],
  ["a terminal and input", { options: ["--tty", "--interactive"] }],
  ["variables and labels", { options: ["--env=A=b c'd\"e$f", "--env=EMPTY=", "--label=some.label=x=y z"] }],
  ["a command of its own", { options: ["--entrypoint=/bin/busybox", "--init=false"], command: ["sleep", "600"] }],
  ["an entrypoint of several words", { options: ['--entrypoint=["/bin/busybox","sh"]'], command: ["-c", "sleep 600"] }],
  ["published ports", { options: ["--publish=127.0.0.1:18321:80", "--publish=18322:53/udp", "--expose=99"] }],
  [
    "mounts",
    {
      options: [
        `--volume=${folder}/one:/a:ro`,
        "--volume=named:/b:rw,noexec",
        "--volume=/nameless",
        "--tmpfs=/t:size=1m,noexec",
        `--mount=type=bind,source=${folder}/one,target=/c,ro=true,bind-propagation=rslave`,
        "--mount=type=tmpfs,destination=/q,tmpfs-size=65536,notmpcopyup",
        `--mount=type=image,source=${images.next},destination=/im,rw=true`,
      ],
    },
  ],
  [
    "rights",
    { options: ["--cap-add=NET_ADMIN", "--cap-drop=MKNOD", "--group-add=10", "--security-opt=no-new-privileges"] },
  ],
  ["privileged", { options: ["--privileged"] }],
  [
    "limits",
    {
      options: [
        "--memory=256m",
        "--memory-swap=-1",
        "--cpu-shares=512",
        "--pids-limit=77",
        "--ulimit=nofile=512:1024",
        "--ulimit=nproc=1024:1024",
        "--oom-score-adj=321",
        "--shm-size=1m",
      ],
    },
  ],
  ["processor time", { options: ["--cpus=1.5"] }],
  ["namespaces", { options: ["--pid=host", "--ipc=private", "--uts=private", "--cgroupns=private"] }],
  ["the host's namespaces", { options: ["--network=host", "--ipc=host", "--uts=host"] }],
  [
    "another's namespaces",
    { options: ["--network=container:anchor", "--pid=container:anchor", "--volumes-from=anchor"] },
  ],
  ["no network", { options: ["--network=none"] }],
  ["what it requires", { options: ["--requires=anchor"] }],
  ["a map of users", { options: ["--uidmap=0:100000:5000", "--gidmap=0:100000:5000"] }],
  ["logging", { options: ["--log-driver=k8s-file", "--log-opt=max-size=3mb"] }],
  ["a restart policy", { options: ["--restart=on-failure:3"] }],
  ["kernel parameters", { options: ["--sysctl=net.ipv4.ip_forward=1"] }],
  [
    "names",
    { options: ["--dns=192.0.2.53", "--dns-search=corp.test", "--dns-option=ndots:2", "--add-host=db:192.0.2.7"] },
  ],
  ["systemd and notifications", { options: ["--systemd=always", "--sdnotify=ignore"] }],
  ["a member of a pod", { options: ["--pod=team", "--umask=0027"] }],
  ["a member of a pod with volumes", { options: ["--pod=stocked", "--volume=named:/mine"] }],
];

engineSuite("a script of a snapshot restores on Podman", () => {
  let engine: TestEngine;
  const podman = (...words: readonly string[]) =>
    execFileSync(engine.cli ?? "podman", words, { stdio: "pipe", encoding: "utf8" });

  beforeAll(async () => {
    engine = await startEngine({ mode: "podman" });
    await importImages(engine);
    mkdirSync(join(folder, "one"), { recursive: true });
    podman("network", "create", "--subnet=10.99.4.0/24", "front");
    podman("network", "create", "back");
    podman("run", "--detach", "--name=anchor", "--volume=anchored:/shared", images.old);
    // Debian's Podman has no program for the pod's own container.
    const infra = `--infra-image=${images.old}`;
    podman("pod", "create", "--name=team", infra, "--share=net,ipc,uts");
    podman("pod", "create", "--name=stocked", infra, "--volume=ofpod:/pod-data");
  });
  afterEach(() => removeContainers(engine, "web"));
  afterAll(async () => await engine.stop(), 60_000);

  async function snapshot(): Promise<Snapshot> {
    await using session = await openSession(engine);
    return readSnapshot((await session.snapshots?.capture(target("web"))) ?? "");
  }

  test.each(rows)("%s", async (_what, { options, command = [] }) => {
    podman("create", "--name=web", "--stop-timeout=1", ...options, images.old, ...command);
    podman("start", "web");
    const before = await snapshot();
    const script = writeExport(before, { format: "script", with_secrets: true });
    podman("rm", "--force", "--time=1", "web");
    const { code, out } = await runScript(engine, script, { cli: engine.cli ?? "podman" });
    expect({ code, out: code === 0 ? "" : out + script }).toEqual({ code: 0, out: "" });
    const [[was], [is]] = [before.members, (await snapshot()).members];
    if (was === undefined || is === undefined) throw new Error("A snapshot has a member");
    const found = differences(snapshotBlueprint(was, before.api_version), is.container).map(({ path }) => path);
    expect({ found: found.filter((path) => path !== "Config.CreateCommand"), runs: isRunning(is.container) }).toEqual({
      found: [],
      runs: isRunning(was.container),
    });
  });
}, ["podman"]);
