// The same requests with nothing around them: what any product that asks a registry has to pay.
import { answerParent, costOf } from "../child.ts";
import { checksAtOnce, newestTag, repositoryOf } from "./plan.ts";

const manifestTypes = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");

async function ask(url: string, index: number, tags: readonly string[]): Promise<void> {
  const base = `${url}/v2/${repositoryOf(index)}`;
  const list = await fetch(`${base}/tags/list?n=1000`, { headers: { accept: "application/json" } });
  await list.json();
  for (const tag of tags) {
    const head = await fetch(`${base}/manifests/${tag}`, { method: "HEAD", headers: { accept: manifestTypes } });
    if (!list.ok || !head.ok) throw new Error(`The registry answered ${list.status} and ${head.status}`);
  }
}

answerParent(async ({ url, sources, older }) => {
  const tags = typeof older === "string" ? [newestTag, older] : [newestTag];
  const queue = Array.from({ length: Number(sources) }, (_, index) => index).values();
  const worker = async () => {
    for (const index of queue) await ask(String(url), index, tags);
  };
  return await costOf(() => Promise.all(Array.from({ length: checksAtOnce }, worker)));
});
