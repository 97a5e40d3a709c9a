import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import { RecentMap } from "../../recent-map.ts";
import { listAt, objectAt, stringAt, stringsAt } from "../engine/raw.ts";
import { namedSecrets } from "../engine/secret-form.ts";
import { type LastLog, lastLogLines, maxLogBytes, maxLogs } from "../runtime.ts";
import { type Cluster, Refused } from "./client.ts";
import type { Pod, Template } from "./objects.ts";
import { type FailingContainer, failingContainers, isUpToDate } from "./pods.ts";
import { type Found, idOf } from "./workloads.ts";

/** Crashes of one rollout that are remembered, so that none is read twice. */
const maxRemembered = 64;

export interface LogReader {
  /** The last words of containers that crashed in new pods; empty if all of these were asked for before. */
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
