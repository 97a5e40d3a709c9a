import type { PlanView } from "../../src/executors/schema.ts";
import { type Message, plain, saidAt, told } from "../../src/messages/message.ts";
import type { RunDetailView } from "../../src/runs/schema.ts";

type Plan = NonNullable<PlanView["plan"]>;
export type RunPlan = Pick<Plan, "services" | "diff" | "carried" | "files"> & {
  warnings: readonly Message[];
};

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Plans from before sentences were data have theirs in English alone. */
function sentenceOf(notice: Readonly<Record<string, unknown>>) {
  return told(saidAt(notice, "message") ?? plain(""));
}

function reasonOf(because: unknown): Plan["diff"][number]["because"] {
  return because === "image" || because === "runtime" ? because : "desired";
}

/** The plan that a run performed, as it was stored with it; null for a run that ended before there was one. */
export function planOf(run: Pick<RunDetailView, "plan">): RunPlan | null {
  const { plan } = run;
  if (plan === null || !Array.isArray(plan.services) || !Array.isArray(plan.diff)) return null;
  const services = plan.services.filter(isRecord).map(({ service, from, to }) => ({
    service: text(service) ?? "",
    from: {
      reference: text(isRecord(from) ? from.reference : null) ?? "",
      digest: text(isRecord(from) ? from.digest : null),
      image_id: text(isRecord(from) ? from.image_id : null) ?? "",
    },
    to: {
      reference: text(isRecord(to) ? to.reference : null) ?? "",
      digest: text(isRecord(to) ? to.digest : null),
    },
  }));
  const diff = plan.diff.filter(isRecord).map(({ service, path, before, after, because }) => ({
    service: text(service) ?? "",
    path: text(path) ?? "",
    before: text(before),
    after: text(after),
    because: reasonOf(because),
  }));
  const files = (Array.isArray(plan.files) ? plan.files.filter(isRecord) : []).map((file) => ({
    service: text(file.service) ?? "",
    path: text(file.path),
    patch: text(file.patch) ?? "",
    is_readable: file.is_readable === true,
    ...sentenceOf(file),
  }));
  const carried = Object.entries(isRecord(plan.carried) ? plan.carried : {}).flatMap(([name, count]) =>
    typeof count === "number" ? [[name, count] as const] : [],
  );
  const noticed = Array.isArray(plan.warnings) ? plan.warnings.filter(isRecord) : [];
  const warnings = noticed.map((each) => sentenceOf(each).message_data);
  return { services, diff, carried: Object.fromEntries(carried), files, warnings };
}
