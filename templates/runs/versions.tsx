import type { RunView } from "../../src/runs/schema.ts";
import { FromTo } from "../components/version.tsx";
import { versionPair } from "../executors/versions.tsx";
import type { PageContext } from "../page.ts";

/** "2.18.4 → 3.0.5"; empty until the run knows its versions. */
export function RunVersions({
  ctx,
  run,
  empty = "–",
}: {
  ctx: PageContext;
  run: Pick<RunView, "from" | "to">;
  empty?: string;
}) {
  const { from, to } = versionPair(run.from, run.to);
  if (to === null) return <span class="quiet">{empty}</span>;
  return <FromTo ctx={ctx} from={from} to={to} />;
}
