/** The kinds of sources that are measured, GitHub once by each of its two ways. */
export const mixedKinds = ["oci", "github_rest", "github_graphql", "gitlab", "gitea", "helm"] as const;
export type MixedKind = (typeof mixedKinds)[number];

/** How many of each in a thousand. */
const shares: Readonly<Record<MixedKind, number>> = {
  oci: 350,
  github_rest: 250,
  github_graphql: 100,
  gitlab: 100,
  gitea: 100,
  helm: 100,
};

/** Requests of an unchanged source in steady state, and no more (the older tag that is asked again comes on top). */
export const requestsAllowed: Readonly<Record<MixedKind, number>> = {
  oci: 2,
  github_rest: 2,
  github_graphql: 1,
  gitlab: 1,
  gitea: 2,
  helm: 1,
};

/** The product asks one older tag of a registry again at every fourth check. */
export const rotation = 4;

/** How many sources of a kind `sources` in all make. */
export function countOf(kind: MixedKind, sources: number): number {
  return Math.max(Math.round((shares[kind] * sources) / 1_000), 1);
}

/** Where each kind answers. */
export type Addresses = Readonly<Record<"oci" | "github" | "gitlab" | "gitea" | "helm", string>>;

/** Both GitHub modes belong to one host, as they do on the real one. */
export function hostOf(kind: MixedKind): keyof Addresses {
  return kind === "github_rest" || kind === "github_graphql" ? "github" : kind;
}

/** The configuration of the source with this number. */
export function configOf(kind: MixedKind, index: number, addresses: Addresses) {
  const url = addresses[hostOf(kind)];
  const repository = `bench/app-${index}`;
  switch (kind) {
    case "oci":
      return { image: repository, registry: url };
    case "github_rest":
      return { repository, instance_url: url, fetch_mode: "rest" };
    case "github_graphql":
      return { repository: `graph/app-${index}`, instance_url: url, fetch_mode: "graphql" };
    case "gitlab":
      return { project: repository, instance_url: url };
    case "gitea":
      return { repository, instance_url: url };
    case "helm":
      return { chart: "app", repository_url: `${url}/charts-${index}` };
  }
}

/** A request as it came, so that it can be sent again. */
export interface Recorded {
  kind: MixedKind;
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string | null;
}
