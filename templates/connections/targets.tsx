import type { Child } from "hono/jsx";
import { type ConnectionView, rootsOf, type TargetList, type TargetView } from "../../src/connections/schema.ts";
import { adoptPath } from "../adoption/props.ts";
import { LinkButton } from "../components/button.tsx";
import { withCode } from "../components/code.tsx";
import { Find, searchedFrom } from "../components/find.tsx";
import { Icon } from "../components/icon.tsx";
import { Link } from "../components/link.tsx";
import { Menu } from "../components/menu.tsx";
import { Banner } from "../components/notice.tsx";
import { State } from "../components/state.tsx";
import { Table } from "../components/table.tsx";
import { Reference } from "../components/version.tsx";
import { ServiceLines } from "../executors/versions.tsx";
import { type PageContext, type Tone, url } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { type AskedConnection, AskedSection, type Found } from "./asked-section.tsx";

type ServiceState = TargetView["services"][number]["state"];

const stateTones: Readonly<Record<ServiceState, Tone>> = {
  running: "current",
  stopped: "quiet",
  restarting: "attention",
  paused: "attention",
  unknown: "unknown",
};

export type Discovery = Found<TargetList>;

interface TargetsProps {
  ctx: PageContext;
  connection: AskedConnection & Pick<ConnectionView, "name">;
  discovery: Discovery;
  /** How many targets can be adopted. */
  new_count?: number | undefined;
  is_whole?: boolean | undefined;
}

/** Everything behind a connection. */
export function Targets({ ctx, connection, discovery, new_count = 0, is_whole = false }: TargetsProps) {
  const t = texts(ctx).connections;
  return (
    <AskedSection
      ctx={ctx}
      id="targets"
      connection={connection}
      title={t.targets}
      found={discovery}
      words={{ asking: t.discovering, show: t.discover, again: t.discover_again, failed: t.discovery_failed }}
      lead={({ items }) => {
        const roots = rootsOf(items);
        return t.targets_lead(roots.length, roots.filter((target) => target.refusals.length === 0).length);
      }}
      draw={(list) => (
        <>
          <NewTargets ctx={ctx} connection={connection} new_count={new_count} />
          <TargetTables ctx={ctx} connection={connection} is_whole={is_whole} {...list} />
        </>
      )}
    />
  );
}

function NewTargets({ ctx, connection, new_count }: Pick<TargetsProps, "ctx" | "connection"> & { new_count: number }) {
  const t = texts(ctx).adoption;
  if (new_count === 0) return null;
  return (
    <Banner
      tone="quiet"
      title={t.new_here(new_count)}
      action={
        <LinkButton ctx={ctx} href={adoptPath(connection.id)} kind="main">
          {t.open_new(new_count)}
        </LinkButton>
      }
    />
  );
}

/** The number of targets that are shown before a person asks for the rest. */
export const shownAtFirst = 60;

function TargetTables({
  ctx,
  connection,
  is_whole,
  items,
}: Omit<TargetsProps, "discovery" | "new_count"> & TargetList) {
  const t = texts(ctx).connections;
  const roots = rootsOf(items);
  const parts = items.filter((target) => !roots.includes(target));
  const most = is_whole ? items.length : shownAtFirst;
  return items.length === 0 ? (
    <Banner tone="quiet" title={t.no_targets}>
      {t.no_targets_text}
    </Banner>
  ) : (
    <div class="discovered">
      {items.length < searchedFrom ? null : <Find label={texts(ctx).executors.find_target} within="#targets" />}
      <TargetTable ctx={ctx} connection={connection} caption={t.targets} targets={roots} most={most} />
      <p class="quiet found-nothing">{texts(ctx).executors.no_target_found}</p>
      {items.length > most ? <OtherTargets ctx={ctx} connection={connection} /> : null}
      {parts.length === 0 || roots.length >= most ? null : (
        <details class="advanced" id="group-parts">
          <summary>
            <Icon name="chevron-right" />
            <b>{t.parts(parts.length)}</b>
            <span>{parts.map((target) => target.name).join(", ")}</span>
          </summary>
          <div class="advanced-fields">
            <p class="help">{t.parts_text}</p>
            <TargetTable
              ctx={ctx}
              connection={connection}
              caption={t.parts(parts.length)}
              targets={parts}
              most={most - roots.length}
            />
          </div>
        </details>
      )}
    </div>
  );
}

/** Loads all of them: at the end of the list, and for the search, which looks only at what is in the page. */
function OtherTargets({ ctx, connection }: Pick<TargetsProps, "ctx" | "connection">) {
  const address = `/connections/${connection.id}/targets?show=all`;
  return (
    <LinkButton
      ctx={ctx}
      href={address}
      attributes={{
        "hx-get": url(ctx, address),
        "hx-trigger": "click, intersect once, focus from:[data-find] once",
        "hx-target": "#targets",
        "hx-swap": "outerMorph",
        "hx-sync": "this:drop",
      }}
    >
      {texts(ctx).connections.show_all}
    </LinkButton>
  );
}

/** What the search finds a target by. */
export function wordsOf({ name, services }: TargetView): string {
  return [name, ...services.flatMap((service) => [service.name, service.image])].join(" ").toLowerCase();
}

/** Its name below the heading of its namespace. */
export function nameWithin({ name, namespace }: TargetView): string {
  return namespace !== null && name.startsWith(`${namespace}/`) ? name.slice(namespace.length + 1) : name;
}

export const namespaceOrder = (a: TargetView, b: TargetView) => (a.namespace ?? "").localeCompare(b.namespace ?? "");

function TargetTable({
  ctx,
  connection,
  caption,
  targets,
  most,
}: Pick<TargetsProps, "ctx" | "connection"> & { caption: string; targets: readonly TargetView[]; most: number }) {
  const t = texts(ctx).connections;
  // Updatable targets without an executor come first: adding one is why people come here.
  const rank = (target: TargetView) =>
    (target.executor !== null ? 2 : target.refusals.length > 0 ? 4 : 0) + (target.is_group ? 0 : 1);
  const hasCharts = targets.some(hasChart);
  const isNamespaced = targets.some(({ namespace }) => namespace !== null);
  const hasOwners = targets.some(({ owner }) => owner !== null);
  // The nodes of a cluster decide; no workload says it.
  const hasPlatforms = !isNamespaced && targets.some((target) => platformsOf(target) !== "");
  const groups = Map.groupBy(targets, ({ namespace }) => namespace);
  const groupOf = ({ namespace }: TargetView) => {
    if (namespace === null) return undefined;
    const count = t.count_targets(groups.get(namespace)?.length ?? 0);
    return {
      key: namespace,
      heading: (
        <>
          {namespace} <span class="quiet">{count}</span>
        </>
      ),
    };
  };
  return (
    <Table
      ctx={ctx}
      caption={caption}
      is_list
      columns={[
        { key: "name", title: texts(ctx).common.target, grows: true },
        ...(hasOwners ? [{ key: "owner", title: t.owner, grows: true } as const] : []),
        { key: "image", title: hasCharts ? t.image_or_chart : texts(ctx).common.image, grows: true },
        { key: "state", title: texts(ctx).common.state_title, card_label: "none" },
        ...(hasPlatforms ? [{ key: "platform", title: t.platform, wide_only: true } as const] : []),
        { key: "updates", title: t.updates, grows: true, leads: true },
      ]}
      rows={targets
        .toSorted((a, b) => namespaceOrder(a, b) || rank(a) - rank(b) || a.name.localeCompare(b.name))
        .slice(0, most)
        .map((target) => ({
          id: `target-${target.kind}-${target.id}`,
          found: wordsOf(target),
          group: groupOf(target),
          cells: {
            name: nameCell(ctx, target),
            owner:
              target.owner_data === null ? null : (
                <span>{withCode(translateMessage(ctx.language, target.owner_data))}</span>
              ),
            image: (
              <ServiceLines
                ctx={ctx}
                services={target.services}
                nameOf={({ name }) => (target.is_group ? name : null)}
                versionsOf={({ image }) => image}
              >
                {([{ image }]) => <Reference>{image}</Reference>}
              </ServiceLines>
            ),
            state: <TargetState ctx={ctx} target={target} />,
            platform: platformsOf(target) === "" ? null : <span class="version">{platformsOf(target)}</span>,
            updates: <Updatable ctx={ctx} target={target} />,
          },
          actions: <TargetActions ctx={ctx} connection={connection} target={target} />,
        }))}
    />
  );
}

function nameCell(ctx: PageContext, target: TargetView): Child {
  const kind = kindOf(ctx, target);
  const name = nameWithin(target);
  if (kind === null) return name;
  return (
    <>
      {name} <span class="quiet plain below">{kind}</span>
    </>
  );
}

function platformsOf({ services }: TargetView): string {
  return [...new Set(services.map(({ platform }) => platform).filter((platform) => platform !== ""))].join(", ");
}

/** What a target is, where its name does not say it: a group, or one of several kinds; null for a container. */
export function kindOf(ctx: PageContext, { is_group, title_data, services }: TargetView): string | null {
  const title = translateMessage(ctx.language, title_data);
  if (is_group) return texts(ctx).executors.group_of(title, services.length);
  return hasChart({ services }) ? title : null;
}

function hasChart({ services }: Pick<TargetView, "services">): boolean {
  return services.some(({ artifact }) => artifact?.kind === "chart");
}

export function TargetState({
  ctx,
  target,
}: {
  ctx: PageContext;
  target: Pick<TargetView, "services"> & Partial<Pick<TargetView, "condition_data">>;
}) {
  const t = texts(ctx).connections.target_states;
  const states = target.services.map((service) => service.state);
  const worst = (["restarting", "paused", "unknown", "stopped", "running"] as const).find((s) => states.includes(s));
  const state = worst ?? "unknown";
  return (
    <State ctx={ctx} tone={stateTones[state]}>
      {target.condition_data == null ? t[state] : translateMessage(ctx.language, target.condition_data)}
    </State>
  );
}

/** Its executor, why it cannot have one, or that it is available. */
function Updatable({ ctx, target }: { ctx: PageContext; target: TargetView }) {
  const t = texts(ctx).connections;
  if (target.executor !== null) {
    return (
      <>
        {texts(ctx).common.executor}{" "}
        <Link ctx={ctx} href={`/executors/${target.executor.id}`}>
          {target.executor.name}
        </Link>
      </>
    );
  }
  const isRefused = target.refusals.length > 0;
  const reasons = (isRefused ? target.refusals : target.warnings).map(({ code, message_data }) =>
    // The column before names the owner.
    target.owner !== null && code === "untold_settings" ? t.may_revert : translateMessage(ctx.language, message_data),
  );
  return (
    <span class={!isRefused && reasons.length === 0 ? "absent" : undefined}>
      <State ctx={ctx} tone={isRefused ? "attention" : "quiet"} icon={isRefused ? "circle-minus" : "circle-check"}>
        {isRefused ? t.not_updatable : t.updatable}
      </State>
      {reasons.map((reason) => (
        <span class="below quiet"> {withCode(reason)}</span>
      ))}
    </span>
  );
}

/** A button for its executor and the rest in a menu; where there is no room, all of it there. */
function TargetActions({ ctx, connection, target }: Pick<TargetsProps, "ctx" | "connection"> & { target: TargetView }) {
  const t = texts(ctx);
  const [service] = target.is_group ? [] : target.services;
  const canAdd = target.executor === null && target.refusals.length === 0;
  if (service === undefined && !canAdd) return null;
  const address = `/executors/new?${new URLSearchParams({ connection: connection.id, kind: target.kind, target: target.id })}`;
  return (
    <>
      <span class="wide-actions">
        {canAdd ? (
          <LinkButton ctx={ctx} href={address} small>
            {t.executors.add}
          </LinkButton>
        ) : null}
      </span>
      <Menu
        label={t.executors.acts.menu_of(target.name)}
        small
        items={
          <>
            {canAdd ? (
              <LinkButton ctx={ctx} kind="entry" href={address} icon="plus" is_narrow>
                {t.executors.add}
              </LinkButton>
            ) : null}
            {service === undefined ? null : (
              <LinkButton ctx={ctx} kind="entry" href={trackerFor(service)} icon="tag">
                {service.artifact?.kind === "chart" ? t.connections.track_chart : t.connections.track_image}
              </LinkButton>
            )}
          </>
        }
      />
    </>
  );
}

/** Where a tracker of what runs is added. */
function trackerFor({ image, artifact }: TargetView["services"][number]): string {
  return `/trackers/new?${new URLSearchParams(artifact?.kind === "chart" ? { chart: artifact.name } : { image })}`;
}
