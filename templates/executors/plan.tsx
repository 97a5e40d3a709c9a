import type { PlanView } from "../../src/executors/schema.ts";
import { DiffView, type FieldChange } from "../components/diff.tsx";
import { Facts } from "../components/facts.tsx";
import { Banner } from "../components/notice.tsx";
import type { PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { ServiceVersions } from "./versions.tsx";

type Diff = NonNullable<PlanView["plan"]>["diff"];

/** A plan's lines for `DiffView`; the service stands before the path only where there are several. */
export function changesOf(ctx: PageContext, diff: Diff): readonly FieldChange[] {
  const t = texts(ctx).executors.because;
  const isMany = new Set(diff.map((line) => line.service)).size > 1;
  return diff.map(({ service, path, before, after, because }) => ({
    field: isMany ? `${service}: ${path}` : path,
    before,
    after,
    reason: because === "desired" ? undefined : t[because],
  }));
}

export function carriedCount(carried: Readonly<Record<string, number>>): number {
  return Object.values(carried).reduce((sum, count) => sum + count, 0);
}

/** What a run would do, or why it would do nothing. */
export function Plan({ ctx, view }: { ctx: PageContext; view: PlanView }) {
  const t = texts(ctx).executors;
  const { plan, unmet } = view;
  const refusals = plan?.refusals ?? [];
  return (
    <>
      {refusals.length > 0 ? (
        <Banner tone="failed" title={t.plan_refused}>
          {refusals.map((refusal) => (
            <p>{translateMessage(ctx.language, refusal.message)}</p>
          ))}
        </Banner>
      ) : unmet !== null && unmet.code !== "already_current" ? (
        <Banner tone="quiet" title={t.plan_unmet}>
          {translateMessage(ctx.language, unmet.message)}
        </Banner>
      ) : null}
      {view.is_downgrade && plan !== null && !plan.is_noop && refusals.length === 0 ? (
        <Banner tone="attention" title={t.plan_downgrade}>
          {t.plan_downgrade_text}
        </Banner>
      ) : null}
      {plan?.warnings.map((warning) => (
        <Banner tone="attention">{translateMessage(ctx.language, warning.message)}</Banner>
      ))}
      {plan === null ? null : plan.is_noop || unmet?.code === "already_current" ? (
        <Banner tone="current">{t.plan_noop}</Banner>
      ) : (
        <DiffView ctx={ctx} changes={changesOf(ctx, plan.diff)} carried={carriedCount(plan.carried)} />
      )}
    </>
  );
}

/** The reference that each service would be created from: the answer to "which image exactly". */
export function ResultingImages({ ctx, view }: { ctx: PageContext; view: PlanView }) {
  const t = texts(ctx).executors;
  return (
    <>
      {view.services.map((service) => (
        <Facts
          items={[
            view.services.length > 1 ? [t.service, service.service] : null,
            service.found === null ? null : [t.plan_now, <span class="version">{service.found.image}</span>],
            service.desired === null ? null : [t.plan_resulting, <b class="version">{service.desired.reference}</b>],
            service.desired === null ? null : [t.versions, <ServiceVersions ctx={ctx} service={service} />],
          ]}
        />
      ))}
    </>
  );
}
