import type { PlanView } from "../../src/executors/plan-schema.ts";
import type { ExecutorView } from "../../src/executors/schema.ts";
import type { VersionSpanView } from "../../src/executors/version-schema.ts";
import type { Message } from "../../src/messages/message.ts";
import type { RunView, SnapshotView } from "../../src/runs/schema.ts";
import type { ExecutorHistory } from "../../src/stats/schema.ts";
import { ActionForm, LinkButton, SharedForm } from "../components/button.tsx";
import { withCode } from "../components/code.tsx";
import { Facts } from "../components/facts.tsx";
import { Later } from "../components/later.tsx";
import { Link } from "../components/link.tsx";
import type { ListProps } from "../components/list-page.tsx";
import { refreshedPart } from "../components/live.tsx";
import { Banner, DisabledBanner } from "../components/notice.tsx";
import { Columns, EditAndDelete, PageHeader, Panel, Section } from "../components/page-header.tsx";
import { Badge } from "../components/state.tsx";
import { Time } from "../components/time.tsx";
import { Layout } from "../layout.tsx";
import { type PageContext, url } from "../page.ts";
import { ApprovalBanner } from "../runs/approval.tsx";
import { RunsTable } from "../runs/list.tsx";
import { reasonWords, runWords, WaitBanner } from "../runs/state.tsx";
import { Snapshots } from "../snapshots/list.tsx";
import { translateMessage, translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { channelWord } from "../trackers/channel-words.ts";
import { NotesSection } from "../trackers/notes.tsx";
import { ActionsMenu, DeferralBanners, OfferButton } from "./actions.tsx";
import { ExecutorCharts } from "./charts.tsx";
import { TriggerWords } from "./list.tsx";
import { expectedDowntime, Plan, PlanFailure } from "./plan.tsx";
import { policyOf } from "./policy.tsx";
import { Services } from "./services.tsx";
import { ExecutorState, isFirstLook } from "./state.tsx";
import { Timeline } from "./timeline.tsx";
import { ExecutorVersions, hasVersion, isBehind } from "./versions.tsx";
import { openingWords } from "./window-words.ts";

/** What a run would do, why that is unknown, or null until it is requested. */
export type Planned = { view: PlanView } | { failure: Message } | null;

interface ExecutorPageProps {
  ctx: PageContext;
  executor: ExecutorView;
  /** Newest first. */
  runs: readonly RunView[];
  history: ExecutorHistory;
  snapshots: ListProps<SnapshotView>;
  versions: readonly VersionSpanView[];
  planned: Planned;
}

export function ExecutorPage(props: ExecutorPageProps) {
  const { ctx, executor } = props;
  const t = texts(ctx).executors;
  const path = `/executors/${executor.id}`;
  return (
    <Layout ctx={ctx} title={executor.name} section="executors">
      <PageHeader
        ctx={ctx}
        title={
          <>
            <bdi>{executor.name}</bdi>{" "}
            <span id="executor-versions">
              {executor.target.is_group || !hasVersion(executor) ? null : (
                <ExecutorVersions ctx={ctx} executor={executor} />
              )}
            </span>
          </>
        }
        parent={{ title: t.title, href: "/executors" }}
        state={
          <span id="executor-state" {...refreshedPart(ctx, path, "executor-state", ["executor-problem"])}>
            <ExecutorState ctx={ctx} executor={executor} solid />
          </span>
        }
        lead={<ExecutorLead ctx={ctx} executor={executor} />}
        actions={<Actions ctx={ctx} executor={executor} />}
      />
      <FirstLook ctx={ctx} executor={executor} path={path} />
      <Banners ctx={ctx} executor={executor} path={path} />
      <Columns aside={<Aside {...props} />}>
        {executor.target.is_group ? (
          <Section id="executor-services" title={t.services}>
            <Services ctx={ctx} executor={executor} />
          </Section>
        ) : null}
        <PlanSection ctx={ctx} executor={executor} planned={props.planned} />
        <UpdateNotes ctx={ctx} executor={executor} />
        <Section
          title={t.runs}
          aside={
            <Link ctx={ctx} href={`/runs?executor_id=${executor.id}`}>
              {t.all_runs}
            </Link>
          }
        >
          {props.runs.length === 0 ? (
            <Panel>
              <p class="quiet">{t.no_runs_text}</p>
            </Panel>
          ) : (
            <RunsTable ctx={ctx} runs={props.runs} />
          )}
        </Section>
        <Timeline
          ctx={ctx}
          title={texts(ctx).timeline.title}
          runners={t.service}
          runnerOf={({ service }) => ({ id: service, name: executor.target.is_group ? service : null })}
          spans={props.versions}
        />
        {executor.target.is_declarative && executor.target.saved_as_data === undefined ? null : (
          <Snapshots ctx={ctx} executor={executor} snapshots={props.snapshots} />
        )}
      </Columns>
      <SharedForm ctx={ctx} />
    </Layout>
  );
}

/** What the executor is about, in facts that do not break across lines. */
function ExecutorLead({ ctx, executor }: Pick<ExecutorPageProps, "ctx" | "executor">) {
  const t = texts(ctx).executors;
  const isGroup = executor.target.is_group && executor.observed_at !== null;
  return (
    <span class="meta" id="executor-lead">
      <span>
        <Link ctx={ctx} href={`/connections/${executor.connection.id}`}>
          {t.target_on(executor.target.id, executor.connection.name)}
        </Link>
      </span>
      {isGroup ? (
        <span>
          {t.group_of(
            translateMessage(ctx.language, executor.target.title_data),
            executor.services.length + executor.unbound.length,
          )}
        </span>
      ) : null}
      {executor.description === "" ? null : <span>{executor.description}</span>}
    </span>
  );
}

/** Polls during a new executor's first inspection and shows its findings; then it stops. */
function FirstLook({ ctx, executor, path }: Pick<ExecutorPageProps, "ctx" | "executor"> & { path: string }) {
  const asking = {
    "hx-get": url(ctx, path),
    "hx-trigger": "every 2s",
    "hx-select": "#executor-look",
    "hx-select-oob": firstSeen.map((id) => `#${id}`).join(","),
    "hx-swap": "outerHTML",
  };
  return <div id="executor-look" {...(isFirstLook(executor) ? asking : {})} />;
}

/** The parts of the page that the first inspection changes. */
const firstSeen = ["executor-state", "executor-versions", "executor-lead", "executor-services", "executor-facts"];

function Actions({ ctx, executor }: Pick<ExecutorPageProps, "ctx" | "executor">) {
  const t = texts(ctx).executors;
  const path = `/executors/${executor.id}`;
  return (
    <>
      {executor.active_run_id === null ? (
        <LinkButton
          ctx={ctx}
          href={`${path}/run`}
          kind={callsForRun(executor) ? "main" : "plain"}
          icon="play"
          opens_dialog
        >
          {t.run_now}
        </LinkButton>
      ) : (
        <LinkButton
          ctx={ctx}
          href={`/runs/${executor.active_run_id}`}
          kind={executor.waiting?.reason === "approval" ? "plain" : "main"}
          icon="activity"
        >
          {t.open_run}
        </LinkButton>
      )}
      <LinkButton ctx={ctx} href={`${path}/logs`} icon="scroll-text">
        {texts(ctx).logs.title}
      </LinkButton>
      <ActionsMenu ctx={ctx} executor={executor} />
      <EditAndDelete ctx={ctx} path={path} />
    </>
  );
}

/** Whether a run would change something, as far as known before its plan. */
function callsForRun({ state, services }: ExecutorView): boolean {
  return state === "failed" || services.some(isBehind);
}

function Banners({ ctx, executor, path }: Pick<ExecutorPageProps, "ctx" | "executor"> & { path: string }) {
  const t = texts(ctx).executors;
  const { last_run: last } = executor;
  return (
    <>
      {executor.is_enabled ? null : <DisabledBanner ctx={ctx} path={path} texts={t} />}
      <TargetProblem ctx={ctx} executor={executor} />
      <DeferralBanners ctx={ctx} executor={executor} />
      {executor.warnings.length === 0 ? null : <Unaccepted ctx={ctx} executor={executor} path={path} />}
      {executor.waiting?.reason === "approval" && executor.active_run_id !== null ? (
        <ApprovalBanner ctx={ctx} run_id={executor.active_run_id} until={executor.waiting.until} />
      ) : null}
      {executor.waiting?.reason === "connection" && executor.waiting.message_data !== null ? (
        <WaitBanner ctx={ctx} reason={executor.waiting.message_data} />
      ) : null}
      {executor.state === "failed" && last !== null ? (
        <Banner
          tone="failed"
          title={runWords(ctx, last)}
          action={
            <>
              <OfferButton ctx={ctx} executor={executor} name="dismiss" />
              <LinkButton ctx={ctx} href={`/runs/${last.id}`}>
                {t.open_run}
              </LinkButton>
            </>
          }
        >
          {reasonWords(ctx, last, translateSentence)}
        </Banner>
      ) : null}
    </>
  );
}

/** Why the state is unknown; if the engine does not respond, also since when, and how old what is shown is. */
function TargetProblem({ ctx, executor }: Pick<ExecutorPageProps, "ctx" | "executor">) {
  const t = texts(ctx).executors;
  const { problem, connection, observed_at } = executor;
  const { since, problem: lost } = connection.reach;
  const reason = problem === null ? null : translateSentence(ctx.language, problem.message_data);
  return (
    <div id="executor-problem" class="banner-slot">
      {!connection.is_enabled ? (
        <Banner tone="attention" title={t.connection_disabled_title}>
          {t.connection_disabled_text}
        </Banner>
      ) : reason === null ? null : lost === null ? (
        <Banner tone={problem?.code === "build_unknown" ? "quiet" : "attention"}>{reason}</Banner>
      ) : (
        <Banner tone="attention" title={t.lost_title(connection.name)}>
          <p>{reason}</p>
          <p class="meta">
            <span>
              {t.lost_since} <Time ctx={ctx} at={since} form="short" />
            </span>
            {observed_at === null ? null : (
              <span>
                {t.lost_seen} <Time ctx={ctx} at={observed_at} />
              </span>
            )}
          </p>
        </Banner>
      )}
    </div>
  );
}

/** Accepts exactly the settings shown here, word for word. */
function Unaccepted({ ctx, executor, path }: Pick<ExecutorPageProps, "ctx" | "executor"> & { path: string }) {
  const t = texts(ctx).executors;
  return (
    <Banner
      id="unaccepted"
      tone="attention"
      title={t.unaccepted_title}
      action={
        <ActionForm
          ctx={ctx}
          action={`${path}/accept-unknown`}
          fields={{ unknown_settings: JSON.stringify(executor.unknown_settings) }}
        >
          {t.accept_unknown}
        </ActionForm>
      }
    >
      {executor.unknown_settings_data.map((each) => (
        <p>{withCode(translateSentence(ctx.language, each))}</p>
      ))}
      <p>{t.unaccepted_text}</p>
    </Banner>
  );
}

/** The plan asks the runtime and the registry, so it loads after the page; without script it has its own page. */
export function PlanSection({ ctx, executor, planned }: Pick<ExecutorPageProps, "ctx" | "executor" | "planned">) {
  const t = texts(ctx).executors;
  const address = `/executors/${executor.id}/plan`;
  if (planned === null) {
    return (
      <div hx-get={url(ctx, address)} hx-trigger="load" hx-swap="outerHTML">
        <Section id="plan" title={t.plan} aside={t.plan_lead}>
          <Later ctx={ctx} text={t.plan_loading} show={t.plan_show} href={address} />
        </Section>
      </div>
    );
  }
  const hash = "view" in planned ? (planned.view.plan?.hash ?? null) : null;
  return (
    <Section
      id="plan"
      title={t.plan}
      aside={
        hash === null ? (
          t.plan_lead
        ) : (
          <span class="mono" title={hash}>
            {texts(ctx).common.plan_hash(hash.slice(0, 12))}
          </span>
        )
      }
    >
      {"failure" in planned ? (
        <PlanFailure
          ctx={ctx}
          failure={planned.failure}
          said={executor.problem?.message_data}
          said_at="#executor-problem"
        />
      ) : (
        <>
          <Plan ctx={ctx} view={planned.view} />
          {planned.view.expected_downtime_ms === null || planned.view.plan?.is_noop !== false ? null : (
            <p class="meta">
              {texts(ctx).common.form.of_field(t.expected_downtime, expectedDowntime(ctx, planned.view))}
            </p>
          )}
        </>
      )}
    </Section>
  );
}

/** Release notes of the versions between the running and the desired one, once per tracker. */
function UpdateNotes({ ctx, executor }: Pick<ExecutorPageProps, "ctx" | "executor">) {
  const updates = executor.services
    .filter(isBehind)
    .flatMap(({ tracker, channel, found, desired }) =>
      desired === null ? [] : [{ tracker, channel, from: found?.tag ?? null, to: desired.tag }],
    );
  const steps = new Map(updates.map((update) => [JSON.stringify(update), update]));
  return (
    <>
      {[...steps.values()].map((step) => (
        <NotesSection ctx={ctx} {...step} is_named={steps.size > 1} />
      ))}
    </>
  );
}

function Aside({ ctx, executor, history }: ExecutorPageProps) {
  const t = texts(ctx).executors;
  return (
    <>
      <Section id="executor-facts" title={texts(ctx).common.details}>
        <Facts
          items={[
            [t.trigger, <TriggerWords ctx={ctx} executor={executor} />],
            ...(executor.target.is_group ? [] : executor.bindings).map(
              (binding) =>
                [
                  t.tracker,
                  <>
                    <Link ctx={ctx} href={`/trackers/${encodeURIComponent(binding.tracker)}`}>
                      {binding.tracker}
                    </Link>{" "}
                    <Badge>{channelWord(ctx, binding.channel)}</Badge>
                  </>,
                ] as const,
            ),
            [t.observed, <Time ctx={ctx} at={executor.observed_at} />],
          ]}
        />
      </Section>
      {executor.trigger === "window" ? (
        <Section title={t.windows}>
          <ul class="sentences">
            {executor.next_windows.map((opening) => (
              <li>{openingWords(ctx, opening)}</li>
            ))}
          </ul>
        </Section>
      ) : null}
      <Section title={t.policy}>
        <ul class="sentences">
          {policyOf(ctx, executor).map((sentence) => (
            <li>{sentence}</li>
          ))}
        </ul>
      </Section>
      <ExecutorCharts ctx={ctx} history={history} has_downtime={!executor.target.is_declarative} />
    </>
  );
}
