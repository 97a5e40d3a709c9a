import type { AdoptionProposalsView, ProposedTargetView, ProposedTrackerView } from "../../src/adoption/schema.ts";
import { Behind } from "../components/behind.tsx";
import { LinkButton } from "../components/button.tsx";
import { Partial } from "../components/notice.tsx";
import { State } from "../components/state.tsx";
import { Version } from "../components/version.tsx";
import { type PageContext, url, withQuery } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { adoptPath } from "./props.ts";

export interface ServiceProps {
  ctx: PageContext;
  service: ProposedTargetView["services"][number];
  trackers: ReadonlyMap<string, ProposedTrackerView>;
}

/** True of a moving tag, whose versions are builds. */
const isMoving = ({ remarks }: ProposedTrackerView) => remarks.some(({ code }) => code === "tag_followed");

export function Newest({ ctx, service, trackers }: ServiceProps) {
  const t = texts(ctx).adoption;
  const tracker = service.tracker === null ? undefined : trackers.get(service.tracker);
  if (tracker === undefined) return null;
  const { state, tag, message_data } = tracker.newest;
  if (state === "pending") {
    return (
      <State ctx={ctx} tone="running">
        {t.looking}
      </State>
    );
  }
  const why = message_data === null ? undefined : translateMessage(ctx.language, message_data);
  if (message_data?.code === "adoption.registry_over_http") {
    return (
      <>
        <State ctx={ctx} tone="attention">
          {t.over_http}
        </State>
        <div class="quiet plain" title={why}>
          {why}
        </div>
        <LinkButton
          ctx={ctx}
          href={`/trackers/new?image=${encodeURIComponent(`http://${service.image}`)}`}
          small
          icon="plus"
        >
          {texts(ctx).trackers.add}
        </LinkButton>
      </>
    );
  }
  if (state === "failed") {
    return (
      <>
        <State ctx={ctx} tone="unknown">
          {t.unknown}
        </State>
        <div class="quiet plain" title={why}>
          {why}
        </div>
      </>
    );
  }
  if (tag === null) return <span class="quiet">{t.no_version}</span>;
  if (isMoving(tracker)) return <span class="quiet">{t.moving}</span>;
  if (service.is_newest) {
    return (
      <State ctx={ctx} tone="current">
        {t.up_to_date}
      </State>
    );
  }
  return (
    <>
      <Version tone="new">{tag}</Version> <Behind ctx={ctx} behind={service.behind} />
    </>
  );
}

/** The versions that have arrived, for the cells that wait for them. */
export function NewestCells({ ctx, list }: { ctx: PageContext; list: AdoptionProposalsView }) {
  const trackers = trackersByKey(list);
  return list.targets.flatMap((target) =>
    target.services.flatMap((service, position) => {
      const isKnown = service.tracker !== null && trackers.get(service.tracker)?.newest.state !== "pending";
      return isKnown ? (
        <Partial target={`#${newestId(target, position)}`} swap="innerHTML">
          <Newest ctx={ctx} service={service} trackers={trackers} />
        </Partial>
      ) : (
        []
      );
    }),
  );
}

export const countAnswered = ({ trackers }: Pick<AdoptionProposalsView, "trackers">) =>
  trackers.filter(({ newest }) => newest.state !== "pending").length;

/**
 * Polls while versions are being looked up. Afterwards the element stays, without polling: htmx does not replace an element with nothing.
 */
export function NewestPoll({ ctx, list }: { ctx: PageContext; list: AdoptionProposalsView }) {
  const seen = countAnswered(list);
  if (seen === list.trackers.length) return <span id="adopt-poll" />;
  const [, query = ""] = ctx.path.split("?", 2);
  const address = withQuery(`${adoptPath(list.connection.id)}/newest?${query}`, { seen });
  return <span id="adopt-poll" hx-get={url(ctx, address)} hx-trigger="every 2s" hx-swap="outerHTML" />;
}

/** Where a service's newest version is shown. */
export function newestId(target: ProposedTargetView, position: number): string {
  return `newest-${target.hash}-${position}`;
}

export function trackersByKey(list: AdoptionProposalsView): ReadonlyMap<string, ProposedTrackerView> {
  return new Map(list.trackers.map((tracker) => [tracker.key, tracker]));
}
