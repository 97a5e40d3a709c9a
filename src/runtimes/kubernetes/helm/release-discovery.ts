import { say } from "../../../messages/message.ts";
import type { Refusal, Target } from "../../target.ts";
import type { Cluster } from "../client.ts";
import { namespacesWithoutReleases } from "../rights.ts";
import type { Helm } from "./program.ts";
import { deployedOf, releaseTarget } from "./release-target.ts";
import { listReleases, readEach } from "./storage.ts";

/** The releases of a namespace, or of all; null if they may not be listed there. */
export async function discoverReleases(
  cluster: Cluster,
  helm: Helm,
  namespace: string | null,
): Promise<readonly Target[] | null> {
  const all = await listReleases(cluster, namespace);
  if (all === null) return null;
  const problem = all.length === 0 ? null : await helm.findProblem();
  const found = all.flatMap((each) => {
    const [stored, deployed] = [each[0], deployedOf(each)];
    return stored === undefined || deployed === undefined ? [] : [{ stored, deployed }];
  });
  const contents = await readEach(
    cluster,
    found.map(({ deployed }) => deployed),
  );
  return found.map(({ stored }, at) => {
    const release = contents[at] ?? null;
    return releaseTarget({ stored, release, serving: release, state: null, shortfall: null }, problem);
  });
}

/** The code of a warning. */
export const releasesNotListed = "releases_not_listed";

/** Why releases are not listed or not updated. `namespaces`: none for all. */
export async function findReleaseProblems(
  cluster: Cluster,
  helm: Helm,
  namespaces: readonly string[],
): Promise<readonly Refusal[]> {
  const { asked, unlisted } = await namespacesWithoutReleases(cluster, namespaces);
  const named = unlisted.filter((each) => each !== "");
  const left = { code: releasesNotListed, message: say("kubernetes.releases_not_listed", { namespaces: named }) };
  const problem = unlisted.length < asked ? await helm.findProblem() : null;
  return [
    ...(unlisted.length === 0 ? [] : [left]),
    ...(problem === null ? [] : [{ code: "helm_missing", message: problem }]),
  ];
}
