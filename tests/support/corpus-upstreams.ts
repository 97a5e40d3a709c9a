import { readFileSync } from "node:fs";
import {
  addImage,
  type Content,
  emptyContent,
  type StandIn,
  serve,
  standIn,
} from "../sources/oci/stand-in-registry.ts";

/** The tags of a file of `tests/fixtures/corpus`, with the one that a careful administrator calls the latest. */
export function corpusOf(name: string): { tags: readonly string[]; stable: string } {
  const file = new URL(`../fixtures/corpus/${name}.json`, import.meta.url);
  const { tags, stable }: { tags: string[]; stable: string } = JSON.parse(readFileSync(file, "utf8"));
  return { tags: tags.flatMap((line) => line.split(" ")), stable };
}

/** One a day from the first of January 2024, in the order given. */
export function dayOf(index: number): string {
  return new Date(Date.UTC(2024, 0, 1 + index, 9)).toISOString();
}

/** A registry with several repositories, by name. */
export interface StandInRegistry extends StandIn {
  repositories: Map<string, Content>;
}

export function registryOf(images: Readonly<Record<string, readonly string[]>>): StandInRegistry {
  const repositories = new Map(
    Object.entries(images).map(([name, tags]) => {
      const content = emptyContent();
      for (const tag of tags) addImage(content, tag, { config: { Labels: { tag } } });
      return [name, content] as const;
    }),
  );
  const server = standIn((request, url) => {
    const name = [...repositories.keys()].find((known) => url.pathname.startsWith(`/v2/${known}/`)) ?? "";
    return serve(repositories.get(name) ?? emptyContent(), name, request, url);
  });
  return Object.assign(server, { repositories });
}

export interface ChartVersion {
  version: string;
  app_version: string;
  created: string;
}

/** An `index.yaml` as `helm repo index` writes it. */
export function chartIndex(charts: Readonly<Record<string, readonly ChartVersion[]>>): string {
  const lines = ["apiVersion: v1", "entries:"];
  for (const [name, versions] of Object.entries(charts)) {
    lines.push(`  ${name}:`);
    for (const { version, app_version, created } of versions.toReversed()) {
      lines.push(
        "  - apiVersion: v2",
        `    appVersion: "${app_version}"`,
        `    created: "${created}"`,
        `    digest: ${new Bun.CryptoHasher("sha256").update(name + version).digest("hex")}`,
        `    name: ${name}`,
        "    urls:",
        `    - ${name}-${version}.tgz`,
        `    version: ${version}`,
      );
    }
  }
  return `${lines.join("\n")}\n`;
}

/** A chart repository at the root of a server on loopback. */
export function chartRepository(text: () => string): StandIn {
  return standIn((_request, url) => {
    if (url.pathname !== "/index.yaml") return new Response("404 page not found", { status: 404 });
    return new Response(text(), { headers: { "content-type": "text/yaml" } });
  });
}
