import type { Child } from "hono/jsx";
import type {
  ActiveRun,
  BadRun,
  FailingSource,
  LostConnection,
  LostTarget,
  PendingUpdate,
  RefusedCredential,
  SharedFailure,
  SharedLostTargets,
  SharedSourceFailure,
  StatsView,
} from "../../src/stats/schema.ts";
import type { UpstreamOutageView } from "../../src/trackers/upstreams/schema.ts";
import { Behind, furthestBehind } from "../components/behind.tsx";
import { LinkButton } from "../components/button.tsx";
import { Menu } from "../components/menu.tsx";
import { Rows } from "../components/rows.tsx";
import { Time } from "../components/time.tsx";
import { failureCode } from "../connections/state.tsx";
import { OfferItems, offersFor } from "../executors/actions.tsx";
import { ServiceLines, versionPair } from "../executors/versions.tsx";
import { formatDuration, formatShort } from "../format.ts";
import type { PageContext } from "../page.ts";
import { RunVersions } from "../runs/versions.tsx";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { trackerPath } from "../trackers/address.ts";
import { MemberTrackers, outageFacts } from "../trackers/outages.tsx";
import { reasonOf } from "../trackers/state.tsx";
import { BadRunRow, SharedFailureRow, type Snapshots } from "./failures.tsx";
import { Need, SharedNeed, undecided } from "./need.tsx";

interface NeedsProps {
  ctx: PageContext;
  stats: StatsView;
  snapshots: Snapshots;
}

/** Everything that needs attention, each row with its action: what is down, what else is broken, what to approve, what to review. */
export function Needs({ ctx, stats, snapshots }: NeedsProps) {
  const isUp = (failure: BadRun | SharedFailure) => ("runs" in failure ? !failure.is_down : failure.serving !== "none");
  const failures = [...stats.shared_failures, ...stats.bad_runs].toSorted((a, b) => Number(isUp(a)) - Number(isUp(b)));
  // The first that can be acted on has the page's main button.
  const hasFailed = failures.length > 0;
  return (
    <Rows id="needs">
      {failures.map((failure, index) =>
        "runs" in failure ? (
          <SharedFailureRow ctx={ctx} failure={failure} snapshots={snapshots} is_first={index === 0} />
        ) : (
          <BadRunRow ctx={ctx} run={failure} snapshots={snapshots} is_first={index === 0} />
        ),
      )}
      {stats.lost_connections.map((lost) => (
        <LostConnectionRow ctx={ctx} lost={lost} />
      ))}
      {stats.shared_lost_targets.map((lost) => (
        <SharedLostTargetsRow ctx={ctx} lost={lost} />
      ))}
      {stats.lost_targets.map((lost) => (
        <LostTargetRow ctx={ctx} lost={lost} />
      ))}
      {stats.upstream_outages.map((outage) => (
        <OutageRow ctx={ctx} outage={outage} />
      ))}
      {stats.refused_credentials.map((refused) => (
        <RefusedCredentialRow ctx={ctx} refused={refused} />
      ))}
      {stats.shared_source_failures.map((failure) => (
        <SharedSourcesRow ctx={ctx} failure={failure} />
      ))}
      {stats.failing_sources.map((source) => (
        <SourceRow ctx={ctx} source={source} />
      ))}
      {stats.awaiting.map((run, index) => (
        <AwaitingRow ctx={ctx} run={run} is_first={index === 0 && !hasFailed} />
      ))}
      {stats.updates.map((update, index) => (
        <UpdateRow ctx={ctx} update={update} is_first={index === 0 && !hasFailed && stats.awaiting.length === 0} />
      ))}
    </Rows>
  );
}

/** An update that only needs approval. */
function AwaitingRow({ ctx, run, is_first }: { ctx: PageContext; run: ActiveRun; is_first: boolean }) {
  const t = texts(ctx);
  const until = run.approval_until;
  return (
    <Need
      ctx={ctx}
      id={run.executor_id}
      href={`/runs/${run.run_id}`}
      tone="attention"
      word={t.overview.lead_words.approval}
      title={run.executor}
      fact={<RunVersions ctx={ctx} run={run} />}
      meta={[
        until === null ? t.runs.words.waits_approval : t.runs.approval.waits_until(formatShort(ctx, until)),
        t.executors.target_on(run.target, run.connection),
      ]}
      action_href={`/runs/${run.run_id}/approve`}
      is_first={is_first}
      opens_dialog
      verb={t.runs.approval.approve}
    />
  );
}

function UpdateRow({ ctx, update, is_first }: { ctx: PageContext; update: PendingUpdate; is_first: boolean }) {
  const t = texts(ctx);
  const isNewBuild = update.services.every(isRepublished);
  const behind = furthestBehind(update.services.map((service) => service.behind));
  return (
    <Need
      ctx={ctx}
      id={update.executor_id}
      href={`/executors/${update.executor_id}`}
      tone="update"
      icon={isNewBuild ? "refresh-cw" : undefined}
      word={isNewBuild ? t.overview.lead_words.republished : t.overview.lead_words.update}
      title={update.executor}
      fact={<UpdateVersions ctx={ctx} update={update} />}
      meta={[
        update.published_at === null ? null : (
          <>
            {t.overview.published} <Time ctx={ctx} at={update.published_at} />
          </>
        ),
        behind === null ? null : <Behind ctx={ctx} behind={behind} />,
        t.executors.target_on(update.target, update.connection),
      ]}
      is_first={is_first}
      verb={t.overview.review}
      more={<UpdateMenu ctx={ctx} update={update} />}
    />
  );
}

/** What else can be done about an update. */
function UpdateMenu({ ctx, update }: { ctx: PageContext; update: PendingUpdate }) {
  const { executor_id: id, trigger, update_revision } = update;
  const offers = offersFor({ ...undecided, id, trigger, update_revision });
  return (
    <Menu
      id={`actions-${id}`}
      label={texts(ctx).executors.acts.menu_of(update.executor)}
      items={<OfferItems ctx={ctx} id={id} offers={offers} />}
    />
  );
}

type ServiceUpdate = PendingUpdate["services"][number];

/** Same tag, different digest. */
function isRepublished({ from, to }: ServiceUpdate): boolean {
  return from.tag !== null && from.tag === to.tag;
}

/** What would change: a container's versions, or those of each outdated service of a group. */
export function UpdateVersions({ ctx, update }: { ctx: PageContext; update: PendingUpdate }) {
  return (
    <ServiceLines
      ctx={ctx}
      services={update.services}
      nameOf={({ service }) => (service === "main" ? null : service)}
      versionsOf={(service) => JSON.stringify(versionPair(service.from, service.to))}
    >
      {([service]) => <RunVersions ctx={ctx} run={service} />}
    </ServiceLines>
  );
}

function LostConnectionRow({ ctx, lost }: { ctx: PageContext; lost: LostConnection }) {
  const t = texts(ctx).overview;
  const href = `/connections/${lost.connection_id}`;
  const reason = translateMessage(ctx.language, lost.problem.message_data);
  // Nothing has found it unreachable.
  const isUnchecked = lost.state === "unknown";
  return (
    <Need
      ctx={ctx}
      id={lost.connection_id}
      href={href}
      tone={isUnchecked ? "unknown" : "failed"}
      word={isUnchecked ? t.lead_words.unknown : texts(ctx).connections.failures[failureCode(lost.problem)]}
      title={lost.connection}
      fact={reason}
      meta={[
        lost.since === null ? null : (
          <>
            {t.lost_since} <Time ctx={ctx} at={lost.since} form="short" />
          </>
        ),
        lost.executors === 0 ? null : lost.observed_at === null ? (
          t.executors_never(lost.executors)
        ) : (
          <>
            {t.executors_unseen(lost.executors)} <Time ctx={ctx} at={lost.observed_at} />
          </>
        ),
      ]}
      verb={t.open}
    />
  );
}

function LostTargetRow({ ctx, lost }: { ctx: PageContext; lost: LostTarget }) {
  const t = texts(ctx).overview;
  const href = `/executors/${lost.executor_id}`;
  return (
    <Need
      ctx={ctx}
      id={lost.executor_id}
      href={href}
      tone="unknown"
      word={t.lead_words.unknown}
      title={lost.executor}
      fact={lostWords(ctx, lost.problem)}
      meta={[lastSeen(ctx, lost), translateMessage(ctx.language, lost.problem.message_data)]}
      verb={t.open}
    />
  );
}

function lostWords(ctx: PageContext, { code }: LostTarget["problem"]): string {
  const t = texts(ctx).overview;
  return code === "target_refused" ? t.target_refused : t.target_missing;
}

function lastSeen(ctx: PageContext, { observed_at }: LostTarget): Child {
  if (observed_at === null) return null;
  return (
    <>
      {texts(ctx).overview.last_seen} <Time ctx={ctx} at={observed_at} />
    </>
  );
}

/** Lost for one reason on one connection. */
function SharedLostTargetsRow({ ctx, lost }: { ctx: PageContext; lost: SharedLostTargets }) {
  const t = texts(ctx).overview;
  const { connection, problem, targets, target_count } = lost;
  const href = "/executors?state=unknown";
  return (
    <SharedNeed
      ctx={ctx}
      tone="unknown"
      word={t.lead_words.unknown}
      title={connection}
      meta={[
        lostWords(ctx, problem),
        problem.code === "target_missing" ? null : translateMessage(ctx.language, problem.message_data),
      ]}
      action={
        <LinkButton ctx={ctx} href={href}>
          {t.open}
        </LinkButton>
      }
      members={targets}
      total={target_count}
      more_href={href}
      row={(each) => ({
        href: `/executors/${each.executor_id}`,
        fact: each.target === each.executor ? undefined : each.target,
        meta: [lastSeen(ctx, each)],
      })}
    />
  );
}

/** A host that does not respond: one row, however many sources wait for it. */
function OutageRow({ ctx, outage }: { ctx: PageContext; outage: UpstreamOutageView }) {
  const t = texts(ctx);
  return (
    <Need
      ctx={ctx}
      id={`upstream-${outage.host}`}
      href="/upstreams"
      tone="attention"
      word={t.overview.lead_words.outage}
      title={outage.host}
      fact={t.upstreams.sources_wait(outage.waiting)}
      meta={[
        <MemberTrackers ctx={ctx} sources={outage.sources} total={outage.waiting} is_plain />,
        ...outageFacts(ctx, outage),
      ]}
      verb={t.overview.open}
    />
  );
}

/** A credential that a host refuses: one row, however many sources use it there. */
function RefusedCredentialRow({ ctx, refused }: { ctx: PageContext; refused: RefusedCredential }) {
  const t = texts(ctx).overview;
  const { credential_id, host, failing } = refused;
  return (
    <Need
      ctx={ctx}
      id={`credential-${credential_id}-${host}`}
      href={`/credentials/${credential_id}/edit`}
      tone="failed"
      word={t.lead_words.credential}
      title={refused.credential}
      fact={t.sources_at(failing, host)}
      meta={[
        <>
          {t.lost_since} <Time ctx={ctx} at={refused.since} form="short" />
        </>,
        <MemberTrackers ctx={ctx} sources={refused.sources} total={failing} is_plain />,
        reasonOf(ctx, refused.error.message_data),
      ]}
      verb={t.open}
    />
  );
}

/** Sources that fail for one reason at one host: one row, however many there are. */
function SharedSourcesRow({ ctx, failure }: { ctx: PageContext; failure: SharedSourceFailure }) {
  const t = texts(ctx).overview;
  const { host, credential, failing, sources } = failure;
  const [first] = sources;
  return (
    <Need
      ctx={ctx}
      id={`${first?.tracker}-${first?.source}`}
      href="/trackers?state=failing"
      tone="failed"
      word={t.lead_words.sources}
      title={host}
      fact={credential === null ? t.sources(failing) : t.sources_with(failing, credential)}
      meta={[
        <>
          {t.lost_since} <Time ctx={ctx} at={failure.since} form="short" />
        </>,
        <MemberTrackers ctx={ctx} sources={sources} total={failing} is_plain />,
        reasonOf(ctx, failure.error.message_data),
      ]}
      verb={t.open}
    />
  );
}

function SourceRow({ ctx, source }: { ctx: PageContext; source: FailingSource }) {
  const t = texts(ctx).overview;
  const href = trackerPath(source.tracker);
  return (
    <Need
      ctx={ctx}
      id={`${source.tracker}-${source.source}`}
      href={href}
      tone="failed"
      word={t.lead_words.source}
      title={source.tracker}
      fact={t.no_good_answer(formatDuration(ctx.language, Math.max(1000, ctx.now - source.failing_since)))}
      meta={[
        source.last_success_at === null ? (
          t.no_good_yet
        ) : (
          <>
            {t.last_good} <Time ctx={ctx} at={source.last_success_at} form="short" />
          </>
        ),
        <>
          {t.next_check} <Time ctx={ctx} at={source.next_check_at} />
        </>,
        reasonOf(ctx, source.error.message_data),
      ]}
      verb={t.open}
    />
  );
}
