// The same requests with nothing around them, four at once: what any product that asks these upstreams has to pay.
import { answerParent, costOf } from "../child.ts";
import type { Recorded } from "./plan.ts";

const atOnce = 4;
let requests: readonly Recorded[] = [];

async function ask({ url, method, headers, body }: Recorded): Promise<void> {
  const response = await fetch(url, { method, headers, body });
  if (response.status === 304 || method === "HEAD") return;
  if (!response.ok) throw new Error(`"${url}" answered ${response.status}`);
  if (response.headers.get("content-type")?.startsWith("application/json") === true) await response.json();
  else await response.arrayBuffer();
}

answerParent(async ({ recorded }) => {
  if (Array.isArray(recorded)) {
    requests = recorded;
    return {};
  }
  const queue = requests.values();
  const worker = async () => {
    for (const request of queue) await ask(request);
  };
  return await costOf(() => Promise.all(Array.from({ length: atOnce }, worker)));
});
