import { toIso } from "../../clock.ts";
import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import { RecentMap } from "../../recent-map.ts";
import { logLinesOf, plainLogLines } from "../engine/log-stream.ts";
import { listAt, objectAt, stringAt, stringsAt } from "../engine/raw.ts";
import { namedSecrets } from "../engine/secret-form.ts";
import {
  type LastLog,
  type LogLine,
  type LogPart,
  type LogReading,
  lastLogLines,
  maxLogBytes,
  maxLogs,
} from "../logs.ts";
import { type Cluster, Refused } from "./client.ts";
import type { ContainerStatus, Pod, Template } from "./objects.ts";
import { type FailingContainer, failingContainers, isUpToDate } from "./pods.ts";
import { type Found, idOf } from "./workloads.ts";

/** Crashes of one rollout that are remembered, so that none is read twice. */
const maxRemembered = 64;

export interface LogReader {
  /** The last lines of containers that crashed in new pods; empty if all of them were read before. */
  ofNewCrashes(found: Found, pods: readonly Pod[]): Promise<readonly LastLog[]>;
  /** The same of every container that fails there. */
  ofFailing(found: Found, pods: readonly Pod[]): Promise<readonly LastLog[]>;
  /** Of these containers in one of the new pods, though nothing fails there. */
  ofRunning(found: Found, pods: readonly Pod[], containers: ReadonlySet<string>): Promise<readonly LastLog[]>;
}

export function logReader(cluster: Cluster): LogReader {
  const crashes = new RecentMap<string, LastLog>(maxRemembered);
  const nameOf = ({ pod, container, restarts, is_previous }: FailingContainer) =>
    `${pod.metadata.uid}/${container}/${restarts}/${is_previous}`;

  const read = async (found: Found, failing: FailingContainer): Promise<LastLog> => {
    const known = failing.has_crashed ? crashes.get(nameOf(failing)) : undefined;
    if (known?.why === null) return known;
    const log = await readLog(cluster, found, failing);
    if (failing.has_crashed) crashes.set(nameOf(failing), log);
    return log;
  };
  const readAll = (found: Found, all: readonly FailingContainer[]) =>
    Promise.all(all.slice(0, maxLogs).map((each) => read(found, each)));
  const failingIn = (found: Found, pods: readonly Pod[]) =>
    failingContainers(pods.filter((pod) => isUpToDate(pod, found)));

  return {
    ofNewCrashes: async (found, pods) => {
      const fresh = failingIn(found, pods).filter((each) => each.has_crashed && !crashes.has(nameOf(each)));
      return await readAll(found, fresh);
    },
    ofFailing: (found, pods) => readAll(found, failingIn(found, pods)),
    ofRunning: async (found, pods, containers) => {
      const pod = pods.find((each) => isUpToDate(each, found) && each.metadata.deletionTimestamp === "");
      const running = (pod?.status.containerStatuses ?? []).filter(
        ({ name, state }) => containers.has(name) && state?.running != null,
      );
      if (pod === undefined) return [];
      const all = running.map(({ name, restartCount }) => {
        return { pod, container: name, restarts: restartCount, is_previous: false, has_crashed: false };
      });
      return await readAll(found, all);
    },
  };
}

async function readLog(cluster: Cluster, found: Found, failing: FailingContainer): Promise<LastLog> {
  const { pod, container } = failing;
  const { namespace, name } = pod.metadata;
  const log = {
    key: `${found.kind}/${idOf(found.metadata)}/${container}`,
    pod: name,
    container,
    is_previous: failing.is_previous,
    secrets: secretsIn(found.template),
  };
  const text = (isPrevious: boolean) =>
    cluster.text(async ({ core }) => {
      const request = await core.readNamespacedPodLog(name, namespace, container);
      request.setQueryParam("tailLines", String(lastLogLines));
      request.setQueryParam("limitBytes", String(maxLogBytes));
      if (isPrevious) request.setQueryParam("previous", "true");
      return request;
    }, maxLogBytes);
  try {
    return { ...log, text: await text(log.is_previous), why: null };
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    const status = error instanceof Refused ? error.status : 0;
    // The node no longer has the container from before the restart.
    if (status === 400 && log.is_previous) return await readLog(cluster, found, { ...failing, is_previous: false });
    return { ...log, text: null, why: status === 403 ? say("kubernetes.logs_forbidden", { namespace }) : error.said };
  }
}

/** The containers of a workload's pods, without those that only prepared their pod and are done. */
export function logPartsOf(cluster: Cluster, found: Found, pods: readonly Pod[]): readonly LogPart[] {
  const secrets = secretsIn(found.template);
  return pods.flatMap((pod) => {
    const { initContainerStatuses, containerStatuses } = pod.status;
    const preparing = initContainerStatuses.filter(({ state }) => state?.terminated?.exitCode !== 0);
    return [...preparing, ...containerStatuses].map((status) => logPartOf(cluster, pod, status, secrets));
  });
}

function logPartOf(cluster: Cluster, pod: Pod, status: ContainerStatus, secrets: readonly string[]): LogPart {
  const { name: container, restartCount, state, lastState } = status;
  const { name, uid } = pod.metadata;
  const hasWritten = state?.running != null || state?.terminated != null || lastState?.terminated != null;
  return {
    key: `${name}/${container}`,
    service: container,
    pod: name,
    container,
    state: state?.running != null ? "running" : hasWritten ? "stopped" : "starting",
    start: `${uid} ${restartCount}`,
    unreadable: null,
    secrets,
    read: async function* (reading) {
      // What it wrote before its restart, for a view that saw it then.
      if (restartCount > 0 && reading.since !== null && !reading.follow) {
        yield* logLines(cluster, pod, container, { ...reading, is_previous: true });
      }
      yield* logLines(cluster, pod, container, { ...reading, is_previous: false });
    },
  };
}

async function* logLines(
  cluster: Cluster,
  pod: Pod,
  container: string,
  { tail, since, follow, signal, is_previous }: LogReading & { is_previous: boolean },
): AsyncGenerator<readonly LogLine[]> {
  const { namespace, name } = pod.metadata;
  const body = cluster.flow(async ({ core }) => {
    const request = await core.readNamespacedPodLog(name, namespace, container);
    request.setQueryParam("timestamps", "true");
    request.setQueryParam("tailLines", String(tail));
    if (since !== null) request.setQueryParam("sinceTime", `${toIso(since * 1000).slice(0, 19)}Z`);
    if (follow) request.setQueryParam("follow", "true");
    if (is_previous) request.setQueryParam("previous", "true");
    return request;
  }, signal);
  try {
    for await (const lines of logLinesOf(body, plainLogLines())) {
      yield lines.map(({ at, text }) => ({ at, text: cluster.withoutLogin(text) }));
    }
  } catch (error) {
    const status = error instanceof Refused ? error.status : 0;
    // The node no longer has it.
    if (is_previous && (status === 400 || status === 404)) return;
    if (status !== 403) throw error;
    throw new PluginError("unauthorized", say("kubernetes.logs_forbidden", { namespace }), { cause: error });
  }
}

/** Values that the template gives to its containers under a name that says that they are secret. */
function secretsIn(template: Template): readonly string[] {
  const { containers, initContainers } = template.spec;
  return [...initContainers, ...containers].flatMap(({ env, command, args }) => {
    const variables = listAt(env).map((each): [string, string] => {
      const { name, value } = objectAt(each);
      return [stringAt(name), stringAt(value)];
    });
    return namedSecrets(variables, [...stringsAt(command), ...stringsAt(args)]);
  });
}
