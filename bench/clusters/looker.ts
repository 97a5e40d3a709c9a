// Looks once at all workloads of a cluster, in a process that did nothing before.
import * as v from "valibot";
import { openClusterSession } from "../../tests/support/cluster-session.ts";
import { answerParent, costOf } from "../child.ts";
import { forgetPeak, peakBytes, residentBytes } from "../figures.ts";

const Question = v.object({ server: v.string(), token: v.string(), ca: v.string() });

answerParent(async (message) => {
  const { server, token, ca } = v.parse(Question, message);
  await using session = await openClusterSession(server, token, ca);
  // Modules are loaded: what is above this is the look's own.
  await session.describe();
  Bun.gc(true);
  await Bun.sleep(1_000);
  const idle_bytes = residentBytes(process.pid);
  forgetPeak();
  let found = 0;
  const cost = await costOf(async () => {
    found = (await session.discover()).length;
  });
  return { idle_bytes, peak_bytes: peakBytes(), found, ...cost };
});
