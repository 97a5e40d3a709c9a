import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHelm, type Helm, type HelmVersion, helmProgram } from "../peers/helm.ts";
import type { Cluster } from "../peers/kubernetes.ts";
import { eventually } from "./eventually.ts";
import { type RealRuns, realRuns } from "./real-runs.ts";
import type { Desired } from "./run-process.ts";

/** A namespace with releases that the product updates, by one version of helm. */
export interface HelmWorld extends AsyncDisposable {
  world: RealRuns;
  connection: string;
  namespace: string;
  helm: Helm;
  /** Runs helm in the namespace, as the administrator. */
  run(...args: string[]): Promise<string>;
  /** Installs an archive and follows the release; answers the executor. */
  install(name: string, archive: string, followed: Followed): Promise<string>;
  /** The stored revisions of a release, the oldest first. */
  revisions(name: string): Promise<readonly { revision: number; status: string }[]>;
  /** Upgrades a release to an archive, and kills helm before it is done. */
  leavePending(name: string, archive: string): Promise<void>;
  /** The process of the helm that works for a run; null if there is none. */
  helmOf(run: string): Promise<number | null>;
  /** The folders of helm that were not removed. */
  folders(): readonly string[];
}

interface Followed {
  desired: Desired;
  settings?: Readonly<Record<string, unknown>>;
  /** What is set for the release, as `name=value`. */
  values?: readonly string[];
}

interface HelmWorldOptions {
  namespace: string;
  /** Of the namespace. */
  labels?: Readonly<Record<string, string>>;
}

export async function helmWorld(
  cluster: Cluster,
  version: HelmVersion,
  { namespace, labels = {} }: HelmWorldOptions,
): Promise<HelmWorld> {
  const helm = createHelm(version);
  const dataDir = mkdtempSync(join(tmpdir(), "tidemark-data-"));
  const kubeconfig = join(helm.directory, "kubeconfig");
  writeFileSync(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
  await cluster.apply([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } }]);
  const world = await realRuns({
    data_dir: dataDir,
    helm: { program: helmProgram(version), search_path: process.env.PATH ?? "" },
  });
  const connection = await world.connectCluster(
    { server: cluster.url, namespaces: namespace, stall_seconds: 10 },
    { token: cluster.admin.token, ca_certificate: cluster.ca },
  );
  const place = ["--namespace", namespace, "--kubeconfig", kubeconfig];
  const run = (...args: string[]) => helm.run(...args, ...place);
  const folders = join(dataDir, "helm");

  const revisions = async (name: string) => {
    const path = `/api/v1/namespaces/${namespace}/secrets?labelSelector=owner%3Dhelm,name%3D${name}`;
    const { items } = await cluster.request<{ items: { metadata: { labels: Record<string, string> } }[] }>("GET", path);
    return items
      .map(({ metadata: { labels: found } }) => ({ revision: Number(found.version), status: found.status ?? "" }))
      .sort((a, b) => a.revision - b.revision);
  };

  return {
    ...{ world, connection, namespace, helm, run, revisions },
    install: async (name, archive, { desired, settings = {}, values = [] }) => {
      const set = values.flatMap((each) => ["--set", each]);
      await run("install", name, archive, ...set, "--wait", "--timeout", "60s");
      return await world.addExecutor({
        connection,
        target: { kind: "helm_release", id: `${namespace}/${name}` },
        desired,
        settings: { health_check: { strategy: "auto" }, ...settings },
      });
    },
    leavePending: async (name, archive) => {
      const child = helm.start("upgrade", name, archive, ...place);
      const ended = once(child, "exit");
      await eventually("an unfinished revision", async () => {
        return (await revisions(name)).at(-1)?.status === "pending-upgrade";
      });
      child.kill("SIGKILL");
      await ended;
    },
    helmOf: (id) => processOf(join(folders, id)),
    folders: () => readdirSync(folders),
    [Symbol.asyncDispose]: async () => {
      await world.close();
      helm[Symbol.dispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A chart's hook for these events: a Job that runs a command, or one that never starts. */
export function hookTemplate(cluster: Cluster, events: string, command: string | null): string {
  return `
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-migrate
  annotations:
    helm.sh/hook: ${events}
    helm.sh/hook-delete-policy: before-hook-creation
spec:
  backoffLimit: 0
  suspend: ${command === null}
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 0
      containers:
        - name: migrate
          image: ${cluster.image("1")}
          command: [sh, -c, "${command ?? "true"}"]
`;
}

/** The helm that uses a folder. */
async function processOf(folder: string): Promise<number | null> {
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const line = await Bun.file(`/proc/${id}/cmdline`)
      .text()
      .catch(() => "");
    if (line.includes(`${folder}/`)) return Number(id);
  }
  return null;
}
