import type { Child } from "hono/jsx";
import type { ReleaseRemark } from "../../src/notifications/schema.ts";
import type { TrackerUse } from "../../src/stats/schema.ts";
import type { ChannelType, SourceView, TrackerView } from "../../src/trackers/schema.ts";
import { Behind, furthestBehind } from "../components/behind.tsx";
import { ActionForm, LinkButton, SharedButton, SharedForm } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { Link } from "../components/link.tsx";
import {
  AddButton,
  isWhole,
  ListBody,
  type ListBodyProps,
  ListChanges,
  ListPage,
  type ListProps,
} from "../components/list-page.tsx";
import { Partial } from "../components/notice.tsx";
import type { Column } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { Version } from "../components/version.tsx";
import { versionPair } from "../executors/versions.tsx";
import { type Notice, type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { addressOf, newestOf, soonestOf, sourceKindLook, trackerPath } from "./address.ts";
import { trackerSelection } from "./bulk.tsx";
import { channelWord } from "./channel-words.ts";
import { OlderRemark } from "./older-remark.tsx";
import { isChecking, nextCheckOf, TrackerState } from "./state.tsx";

const shownStates = ["update", "failing", "waiting", "pending", "disabled"] as const;

export interface TrackersPageProps extends ListProps<TrackerView> {
  /** By the tracker's id. */
  uses: ReadonlyMap<string, readonly TrackerUse[]>;
  /** A check requested on this page whose result is still to be shown: a name, or `*` for all. */
  awaited: { name: string; since: number } | null;
}

const channelOrder = ["stable", "prerelease", "beta", "canary"] as const;
const listId = "tracker-list";

export function TrackersPage(props: TrackersPageProps) {
  const { ctx, items: trackers } = props;
  const t = texts(ctx).trackers;
  const create = <AddButton ctx={ctx} section="trackers" />;
  const bring = (
    <LinkButton ctx={ctx} href="/trackers/import">
      {texts(ctx).imports.open}
    </LinkButton>
  );
  return (
    <ListPage
      {...trackersBody(props)}
      section="trackers"
      icon="tag"
      texts={t}
      action={
        <>
          {create} {bring}
        </>
      }
      lead={isWhole(props) ? t.lead(trackers.length) : undefined}
      actions={
        <>
          <ActionForm
            ctx={ctx}
            action="/trackers/checks"
            fields={{ next: ctx.path }}
            target={`#${listId}`}
            icon="refresh-cw"
          >
            {t.check_all}
          </ActionForm>
          {bring}
          {create}
        </>
      }
      after={
        <p class="meta after-table">
          <span>
            <Link ctx={ctx} href="/upstreams">
              {texts(ctx).upstreams.title}
            </Link>
          </span>
          <span>{texts(ctx).upstreams.lead}</span>
        </p>
      }
    />
  );
}

/** Filters and rows: replaced by filtering and by a check of all. */
export function trackersBody(props: TrackersPageProps): ListBodyProps {
  const { ctx } = props;
  const t = texts(ctx).trackers;
  return {
    ...props,
    id: listId,
    caption: t.title,
    search_label: t.filter_text,
    filters: [
      {
        name: "state",
        title: texts(ctx).common.state_title,
        all: t.filter_states.all,
        options: shownStates.map((value) => [value, t.filter_states[value]]),
      },
      {
        name: "channel",
        title: t.filter_channel,
        all: t.any_channel,
        options: channelOrder.map((value) => [value, t.channels[value]]),
      },
      { name: "kind", title: t.filter_kind, all: t.any_kind, options: Object.entries(t.kinds) },
    ],
    selection: trackerSelection(props),
    table: trackerTable(props),
    children: (
      <>
        <SharedForm ctx={ctx} target={`#${listId}`} />
        <LookAgain {...props} />
      </>
    ),
  };
}

/** The list after filtering, and after the request of a check of all. */
export function TrackerList(props: TrackersPageProps) {
  return <ListBody {...trackersBody(props)} />;
}

interface TrackerChangesProps extends TrackersPageProps {
  /** The ids of trackers. */
  changed: readonly string[];
  /** The result of a requested check. */
  notice: Notice | null;
}

/** Rows of the open list after the request, the beginning or the end of a check. */
export function TrackerChanges({ changed, notice, ...props }: TrackerChangesProps) {
  return (
    <>
      <ListChanges {...trackersBody(props)} changed={changed.map(rowId)} notice={notice} />
      <Partial target="#look-again">
        <LookAgain {...props} />
      </Partial>
    </>
  );
}

/** While checks run, asks each second which rows have changed since; sends which ones the page shows as checking. */
function LookAgain({ ctx, items: trackers, awaited }: TrackersPageProps) {
  const isOver = awaited === null && !trackers.some((tracker) => isChecking(ctx, tracker));
  const asks = {
    "hx-get": url(ctx, ctx.path, { awaited: awaited?.name, since: awaited?.since }),
    "hx-trigger": "every 1s",
    "hx-include": "[name=checking]",
    "hx-swap": "none",
  };
  return <span id="look-again" hidden {...(isOver ? {} : asks)} />;
}

function rowId(trackerId: string): string {
  return `tracker-${trackerId}`;
}

function trackerTable(props: TrackersPageProps) {
  const { ctx, items: trackers } = props;
  const t = texts(ctx).trackers;
  const channels = channelOrder.filter((type) =>
    trackers.some((tracker) => tracker.sources.some((source) => source.channels.some((own) => own.type === type))),
  );
  const columns: Column[] = [
    { key: "name", title: texts(ctx).common.name, grows: true, sort: "name" },
    { key: "sources", title: t.sources, wide_only: true },
    ...channels.map((type, position) => ({ key: type, title: t.channels[type], leads: position === 0 })),
    { key: "running", title: t.running, grows: true },
    { key: "state", title: texts(ctx).common.state_title, card_label: "none", sort: "state" },
    { key: "checked", title: t.last_check, align: "end", sort: "-checked" },
    { key: "next", title: t.next_check, align: "end", wide_only: true },
  ];
  return { columns, rows: trackers.map((tracker) => trackerRow(props, tracker, channels)) };
}

function trackerRow({ ctx, uses }: TrackersPageProps, tracker: TrackerView, channels: readonly ChannelType[]) {
  const own = uses.get(tracker.id) ?? [];
  const path = trackerPath(tracker.name);
  const versions = channels.map((type) => [type, <LatestOf ctx={ctx} tracker={tracker} type={type} />] as const);
  return {
    id: rowId(tracker.id),
    href: path,
    muted: !tracker.is_enabled,
    shows: [tracker, own],
    choice: { value: tracker.id, label: texts(ctx).selection.choose(tracker.name) },
    cells: {
      name: tracker.name,
      sources: <SourceIcons ctx={ctx} sources={tracker.sources} />,
      ...Object.fromEntries(versions),
      running: <Running ctx={ctx} uses={own} />,
      state: (
        <>
          <TrackerState ctx={ctx} tracker={tracker} uses={own} />
          {isChecking(ctx, tracker) ? <input type="hidden" name="checking" value={tracker.id} /> : null}
        </>
      ),
      checked: <Time ctx={ctx} at={newestOf(tracker.sources.map((source) => source.last_checked_at))} />,
      next: <Time ctx={ctx} at={soonestOf(tracker.sources.map(nextCheckOf))} empty="–" />,
    },
    titles: {
      sources: tracker.sources.map((source) => `${source.key}: ${addressOf(source)}`).join("\n"),
      running: own.length === 0 ? undefined : own.map((use) => use.executor).join(", "),
    },
    actions: (
      <>
        <UpdateLink ctx={ctx} tracker={tracker} uses={own} />
        <SharedButton
          ctx={ctx}
          action={`${path}/checks`}
          kind="bare"
          small
          icon="refresh-cw"
          label={texts(ctx).trackers.check_of(tracker.name)}
        />
      </>
    ),
  };
}

/** To the plan of the executor that is behind, or to all of them. */
function UpdateLink({ ctx, tracker, uses }: { ctx: PageContext; tracker: TrackerView; uses: readonly TrackerUse[] }) {
  const behind = new Map(
    uses.filter((use) => use.is_enabled && use.state === "update").map((use) => [use.executor_id, use.executor]),
  );
  const [first] = behind;
  if (first === undefined) return null;
  const [id, name] = first;
  const isOne = behind.size === 1;
  const t = texts(ctx).trackers;
  return (
    <LinkButton
      ctx={ctx}
      href={isOne ? `/executors/${id}/run` : `/executors?tracker=${encodeURIComponent(tracker.name)}`}
      kind="bare"
      small
      icon="play"
      label={isOne ? t.update_one(name) : t.update_several(behind.size)}
      opens_dialog={isOne}
    />
  );
}

function SourceIcons({ ctx, sources }: { ctx: PageContext; sources: readonly SourceView[] }): Child {
  return sources.map(({ kind, key }) => {
    const { name, title } = sourceKindLook(ctx, kind);
    return <Icon name={name} label={`${title} ${key}`} class="source" />;
  });
}

/** The latest of the first source with a channel of this type, for each name; different ones appear in the tooltip. */
function LatestOf({ ctx, tracker, type }: { ctx: PageContext; tracker: TrackerView; type: ChannelType }): Child {
  const t = texts(ctx).trackers;
  const found = tracker.sources.flatMap((source) =>
    source.channels.filter((channel) => channel.type === type).map((channel) => ({ key: source.key, channel })),
  );
  if (found.length === 0) return <span class="quiet absent">–</span>;
  const known = found.flatMap(({ key, channel: { name, latest } }) =>
    latest === null
      ? []
      : [{ key, name, version: latest.version, display: latest.display_version, remark: latest.remark }],
  );
  if (known.length === 0) return <span class="quiet">{t.no_version}</span>;
  const byName = [...Map.groupBy(known, ({ name }) => name)];
  return byName.map(([name, shown], position) => (
    <>
      {position === 0 ? null : <br />}
      {byName.length === 1 ? null : <span class="quiet">{channelWord(ctx, name)} </span>}
      <NamedLatest ctx={ctx} shown={shown} />
    </>
  ));
}

interface ShownLatest {
  key: string;
  version: string;
  display: string;
  remark: ReleaseRemark | null;
}

function NamedLatest({ ctx, shown }: { ctx: PageContext; shown: readonly ShownLatest[] }): Child {
  const [first] = shown;
  if (first === undefined) return null;
  const others = shown.filter(({ display }) => display !== first.display);
  const latest = (
    <>
      <Version>{shown.length === 1 ? first.version : first.display}</Version>
      {others.length === 0 ? null : <small class="quiet"> +{others.length}</small>}
      <OlderRemark ctx={ctx} remark={first.remark} />
    </>
  );
  if (others.length === 0) return latest;
  const list = shown.map(({ key, version }) => `${key} ${version}`).join(", ");
  return <span title={texts(ctx).trackers.also_differs(list)}>{latest}</span>;
}

function Running({ ctx, uses }: { ctx: PageContext; uses: readonly TrackerUse[] }): Child {
  if (uses.length === 0) return <span class="quiet">{texts(ctx).trackers.runs_nothing}</span>;
  const shown = uses.map((use) => {
    const current = use.current ?? { tag: null, digest: null };
    return versionPair(current, use.state === "update" ? (use.desired ?? current) : current);
  });
  const names = [...new Set(shown.map(({ from, to }) => from ?? to).filter((name) => name !== null))];
  const [first] = names;
  return (
    <>
      {first === undefined ? <span class="quiet">?</span> : <Version>{first}</Version>}
      {names.length < 2 ? null : <small class="quiet"> +{names.length - 1}</small>}{" "}
      <Behind ctx={ctx} behind={furthestBehind(uses.map(({ behind }) => behind))} />
    </>
  );
}
