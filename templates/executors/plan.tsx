import type { PlanView } from "../../src/executors/plan-schema.ts";
import type { Message } from "../../src/messages/message.ts";
import { Code, withCode } from "../components/code.tsx";
import { DiffView, type FieldChange } from "../components/diff.tsx";
import { Facts } from "../components/facts.tsx";
import { Banner } from "../components/notice.tsx";
import { SizeChange } from "../components/size.tsx";
import { Reference } from "../components/version.tsx";
import { formatBytes, formatDuration, formatList } from "../format.ts";
import type { PageContext } from "../page.ts";
import { translateMessage, translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { isBehind, ServiceVersions } from "./versions.tsx";

type Planned = NonNullable<PlanView["plan"]>;

interface ChangesProps {
  ctx: PageContext;
  diff: Planned["diff"];
  /** How many settings stay unchanged. */
  carried?: number | undefined;
  /** The services in display order; without it, those of the diff. */
  services?: readonly string[] | undefined;
}

interface PlanFailureProps {
  ctx: PageContext;
  failure: Message;
  /** The reason that the page already shows; it is not repeated. */
  said: Message | null | undefined;
  /** Where the page shows it, if that may be out of sight. */
  said_at?: `#${string}`;
  tone?: "failed" | "attention";
}

export function PlanFailure({ ctx, failure, said, said_at, tone = "failed" }: PlanFailureProps) {
  const t = texts(ctx).executors;
  const reason = translateSentence(ctx.language, failure);
  const isSaid = said !== null && said !== undefined && translateSentence(ctx.language, said) === reason;
  return (
    <Banner tone={tone} title={t.plan_failed}>
      {!isSaid ? reason : said_at === undefined ? undefined : <a href={said_at}>{t.plan_failed_above}</a>}
    </Banner>
  );
}

/** The changes field by field; several services each have a heading. */
export function Changes({ ctx, diff, carried, services }: ChangesProps) {
  const told = [...new Set([...(services ?? []), ...diff.map((line) => line.service)])];
  if (told.length < 2) return <DiffView ctx={ctx} changes={changesOf(ctx, diff)} carried={carried} />;
  return (
    <div class="plan">
      {told.map((service) => {
        const lines = diff.filter((line) => line.service === service);
        return lines.length === 0 ? null : (
          <section class="plan-service">
            <h3>{service}</h3>
            <DiffView ctx={ctx} changes={changesOf(ctx, lines)} />
          </section>
        );
      })}
      {carried === undefined ? null : <p class="quiet">{texts(ctx).common.diff.carried(carried)}</p>}
    </div>
  );
}

function changesOf(ctx: PageContext, diff: Planned["diff"]): readonly FieldChange[] {
  const t = texts(ctx).executors.because;
  return diff.map(({ path, before, after, because }) => ({
    field: path,
    before,
    after,
    reason: reasonOf(t, path, because),
  }));
}

/** An anonymous volume is named in the new container, which would otherwise get a new, empty one. */
function reasonOf(
  t: ReturnType<typeof texts>["executors"]["because"],
  path: string,
  because: Planned["diff"][number]["because"],
): string | undefined {
  if (because === "desired") return undefined;
  const isVolume = because === "runtime" && (path === "HostConfig.Mounts" || path === "HostConfig.Binds");
  return isVolume ? t.volume : t[because];
}

export function carriedCount(carried: Readonly<Record<string, number>>): number {
  return Object.values(carried).reduce((sum, count) => sum + count, 0);
}

/** "about 0.3 s, from the last 4 runs": past downtime. */
export function expectedDowntime(ctx: PageContext, view: PlanView): string {
  const t = texts(ctx).executors;
  return view.expected_downtime_ms === null
    ? t.expected_unknown
    : t.expected_known(formatDuration(ctx.language, view.expected_downtime_ms), view.expected_downtime_runs);
}

/** What a run would do, or why it would do nothing. */
export function Plan({ ctx, view }: { ctx: PageContext; view: PlanView }) {
  const t = texts(ctx).executors;
  const { plan, unmet } = view;
  const refusals = plan?.refusals ?? [];
  const isNothing = plan?.is_noop === true || unmet?.code === "already_current";
  return (
    <div class="plan">
      {refusals.length > 0 ? (
        <Banner tone="failed" title={t.plan_refused}>
          {refusals.map((refusal) => (
            <p>{withCode(translateMessage(ctx.language, refusal.message_data))}</p>
          ))}
        </Banner>
      ) : unmet !== null && unmet.code !== "already_current" ? (
        <Banner tone="quiet" title={t.plan_unmet}>
          {translateSentence(ctx.language, unmet.message_data)}
        </Banner>
      ) : null}
      {view.is_downgrade && plan !== null && !plan.is_noop && refusals.length === 0 ? (
        <Banner tone="attention" title={t.plan_downgrade}>
          {t.plan_downgrade_text}
        </Banner>
      ) : null}
      <LeftAlone ctx={ctx} view={view} />
      {plan === null || isNothing ? null : <Downloads ctx={ctx} services={view.services} />}
      {/* Warnings are about what a run would do; if it would do nothing, there are none. */}
      {(isNothing ? [] : (plan?.warnings ?? [])).map((warning) => (
        <Banner tone="attention">{translateMessage(ctx.language, warning.message_data)}</Banner>
      ))}
      {plan === null ? null : isNothing ? (
        <Banner tone="current">{view.target.is_group ? t.group_noop : t.plan_noop}</Banner>
      ) : view.target.is_declarative ? (
        <Changes ctx={ctx} diff={plan.diff} services={plan.services.map(({ service }) => service)} />
      ) : view.target.is_group ? (
        <GroupPlan ctx={ctx} plan={plan} />
      ) : (
        <>
          {plan.order === "start_first" ? <p class="plan-lead">{t.order_one_start_first(plan.drain_seconds)}</p> : null}
          {plan.containers.some(({ is_running }) => !is_running) ? <p>{t.one_left_stopped}</p> : null}
          <Changes ctx={ctx} diff={plan.diff} carried={carriedCount(plan.carried)} />
        </>
      )}
      {plan === null || isNothing ? null : <Files ctx={ctx} files={plan.files} />}
    </div>
  );
}

/** What a run downloads: each image once, by the services that run it. Images may share layers, which are downloaded once. */
function Downloads({ ctx, services }: { ctx: PageContext } & Pick<PlanView, "services">) {
  const t = texts(ctx).executors;
  const updated = services.flatMap((each) =>
    isBehind(each) && each.desired !== null ? [{ ...each.desired, ...each }] : [],
  );
  const images = [...Map.groupBy(updated, ({ digest, reference }) => digest ?? reference).values()].map((same) => ({
    services: same.map(({ service }) => service),
    size: same.find(({ download }) => download)?.download ?? null,
  }));
  const known = images.flatMap(({ size }) => size ?? []);
  const [first] = known;
  if (first === undefined) return null;
  const total = formatBytes(
    ctx.language,
    known.reduce((sum, { to_bytes }) => sum + to_bytes, 0),
  );
  return (
    <Facts
      items={
        images.length === 1
          ? [[texts(ctx).common.image_size.download, <SizeChange ctx={ctx} {...first} />]]
          : [
              ...images.map(
                ({ services: names, size }) =>
                  [
                    t.download_of(formatList(ctx.language, names)),
                    size === null ? (
                      <span class="quiet">{t.download_unknown}</span>
                    ) : (
                      <SizeChange ctx={ctx} {...size} />
                    ),
                  ] as const,
              ),
              [t.download_in_all, <span>{t.download_total(total, images.length - known.length)}</span>] as const,
            ]
      }
    />
  );
}

/** Services that follow a tracker and stay unchanged nevertheless; the condition of the whole run is shown separately. */
function LeftAlone({ ctx, view }: { ctx: PageContext; view: PlanView }) {
  const t = texts(ctx).executors;
  const left = view.services.flatMap(({ unmet }) => (unmet === null ? [] : [unmet]));
  if (view.plan === null || left.length === 0) return null;
  return (
    <Banner tone="quiet" title={t.plan_left_alone(left.length)}>
      {left.map((reason) => (
        <p>{withCode(translateSentence(ctx.language, reason.message_data))}</p>
      ))}
    </Banner>
  );
}

/** Every replaced container in working order, and below it the changes of each service. */
function GroupPlan({ ctx, plan }: { ctx: PageContext; plan: Planned }) {
  const t = texts(ctx).executors;
  return (
    <>
      <div class="panel">
        <p class="plan-lead">
          {plan.order === "start_first" ? t.order_start_first(plan.drain_seconds) : t.order_stop_first}{" "}
          <b>{t.replaced_lead}</b>
        </p>
        <ol class="plan-containers">
          {plan.containers.map((container) => (
            <li>
              <b class="version">{container.name}</b>
              <span class="quiet">
                {container.because === "desired" ? container.service : t.replaced_because[container.because]}
                {container.is_running ? null : `, ${t.left_stopped}`}
              </span>
            </li>
          ))}
        </ol>
      </div>
      <Changes
        ctx={ctx}
        diff={plan.diff}
        carried={carriedCount(plan.carried)}
        services={plan.containers.map((each) => each.service)}
      />
    </>
  );
}

/** Files that would not match what runs, each with the edit that makes it match. */
export function Files({ ctx, files }: { ctx: PageContext; files: Planned["files"] }) {
  const t = texts(ctx).executors;
  if (files.length === 0) return null;
  const edited = files.filter(({ patch }) => patch !== "");
  const names = [...new Set(edited.flatMap(({ path }) => (path === null ? [] : [path])))];
  return (
    <section class="plan-service">
      <h3>
        {edited.length === 0
          ? t.files_none
          : names.length === 0
            ? t.files_unknown
            : t.files_title(formatList(ctx.language, names))}
      </h3>
      {files.map((file) => (
        <div class="plan-file">
          <p>
            <b>{file.service}</b>{" "}
            <span class="quiet">{withCode(translateMessage(ctx.language, file.message_data))}</span>
          </p>
          {file.patch === "" ? null : <Code ctx={ctx} text={file.patch} what={t.file_patch} />}
        </div>
      ))}
    </section>
  );
}

/** The reference that a container would be created from: exactly which image. A group's rows show it themselves. */
export function ResultingImages({ ctx, view }: { ctx: PageContext; view: PlanView }) {
  const t = texts(ctx).executors;
  if (view.target.is_group) return null;
  return (
    <>
      {view.services.map((service) => (
        <Facts
          items={[
            service.found === null ? null : [t.plan_now, <Reference>{service.found.image}</Reference>],
            service.desired === null
              ? null
              : [
                  t.plan_resulting,
                  <b>
                    <Reference>{service.desired.reference}</Reference>
                  </b>,
                ],
            service.desired === null
              ? null
              : [texts(ctx).common.version, <ServiceVersions ctx={ctx} service={service} />],
          ]}
        />
      ))}
    </>
  );
}
