import type { ExecutorView } from "../../src/executors/schema.ts";
import { Icon } from "../components/icon.tsx";
import { Link } from "../components/link.tsx";
import { State } from "../components/state.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Reference } from "../components/version.tsx";
import { TargetState } from "../connections/targets.tsx";
import type { PageContext, Tone } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { trackerPath } from "../trackers/address.ts";
import { channelWord } from "../trackers/channel-words.ts";
import { isFirstLook, ProblemState } from "./state.tsx";
import { isBehind, ServiceVersions } from "./versions.tsx";

type Observed = ExecutorView["services"][number];

interface ServicesProps {
  ctx: PageContext;
  executor: Pick<
    ExecutorView,
    "target" | "services" | "unbound" | "bindings" | "observed_at" | "problem" | "connection"
  >;
}

/** Services that are shown before the others are unfolded; those that are behind or cannot be updated come first. */
const shownAtFirst = 12;

function needsNothing(service: Observed): boolean {
  return service.unmet === null && !isBehind(service);
}

/** The services of a group, bound or not: what each runs, what it should run, and what it follows. */
export function Services({ ctx, executor }: ServicesProps) {
  const t = texts(ctx).executors;
  const { services, unbound, bindings } = executor;
  // Before the first inspection only the bindings are known.
  const unseen = bindings.filter(({ service }) => services.every((each) => each.service !== service));
  const isLost = executor.connection.reach.problem !== null;
  const isSeen = executor.problem === null || executor.problem.code === "build_unknown";
  const hasContainers = !executor.target.is_declarative;
  const columns: Column[] = [
    { key: "service", title: t.service, grows: true },
    { key: "versions", title: texts(ctx).common.version, grows: true },
    { key: "state", title: texts(ctx).common.state_title, card_label: "none", grows: true },
    { key: "tracker", title: t.tracker, grows: true },
    ...(hasContainers ? [{ key: "containers", title: t.containers, wide_only: true, grows: true } as const] : []),
  ];
  const rows = [
    ...services
      .toSorted((a, b) => Number(needsNothing(a)) - Number(needsNothing(b)))
      .map((service) => ({
        id: `service-${service.service}`,
        cells: {
          service: service.service,
          versions: <ServiceVersions ctx={ctx} service={service} />,
          state: <ServiceState ctx={ctx} service={service} is_seen={isSeen} is_lost={isLost} />,
          tracker: (
            <span>
              <Link ctx={ctx} href={trackerPath(service.tracker)}>
                {service.tracker}
              </Link>
              , {channelWord(ctx, service.channel)}
            </span>
          ),
          containers: <Containers names={service.found?.containers ?? []} />,
        },
      })),
    ...unseen.map(({ service, tracker, channel }) => ({
      id: `service-${service}`,
      cells: {
        service,
        versions: <span class="quiet">–</span>,
        state: <span class="quiet">{isFirstLook(executor) ? t.state_words.looking : t.state_words.not_looked}</span>,
        tracker: (
          <span>
            <Link ctx={ctx} href={trackerPath(tracker)}>
              {tracker}
            </Link>
            , {channelWord(ctx, channel)}
          </span>
        ),
        containers: <span class="absent" />,
      },
    })),
    ...unbound.map((service) => ({
      id: `service-${service.name}`,
      muted: true,
      cells: {
        service: service.name,
        versions: <Reference>{service.image}</Reference>,
        state: isLost ? <UnknownState ctx={ctx} /> : <TargetState ctx={ctx} target={{ services: [service] }} />,
        tracker: <span class="quiet">{t.not_bound_short}</span>,
        containers: <Containers names={service.containers} />,
      },
    })),
  ];
  const [first, others] = [rows.slice(0, shownAtFirst), rows.slice(shownAtFirst)];
  return (
    <div class="stack">
      <Table ctx={ctx} caption={t.services} columns={columns} rows={first} />
      {others.length === 0 ? null : (
        <details class="advanced" id="other-services">
          <summary>
            <Icon name="chevron-right" />
            <b>{t.other_services(others.length)}</b>
          </summary>
          <div class="advanced-fields">
            <Table ctx={ctx} caption={t.other_services(others.length)} columns={columns} rows={others} />
          </div>
        </details>
      )}
    </div>
  );
}

function Containers({ names }: { names: readonly string[] }) {
  return <span class="quiet version">{names.join(", ")}</span>;
}

const differenceTones: Readonly<Record<NonNullable<Observed["difference"]>, Tone>> = {
  current: "current",
  new_digest: "update",
  other_mode: "current",
  other_tag: "current",
  other_version: "update",
  other_name: "update",
  unknown: "unknown",
};

function UnknownState({ ctx }: { ctx: PageContext }) {
  return (
    <State ctx={ctx} tone="unknown">
      {texts(ctx).executors.states.unknown}
    </State>
  );
}

interface ServiceStateProps {
  ctx: PageContext;
  service: Observed;
  /** The target was inspected: what is unknown then is the build alone. */
  is_seen: boolean;
  is_lost: boolean;
}

function ServiceState({ ctx, service, is_seen, is_lost }: ServiceStateProps) {
  const t = texts(ctx).executors;
  const { difference, unmet, found } = service;
  if (unmet !== null) return <ProblemState ctx={ctx} problem={unmet} />;
  if (difference === null || is_lost) return <UnknownState ctx={ctx} />;
  // Not running matters more than the version.
  if (found !== null && found.state !== "running" && !isBehind(service)) {
    return <TargetState ctx={ctx} target={{ services: [found] }} />;
  }
  return (
    <State ctx={ctx} tone={differenceTones[difference]}>
      {difference === "unknown" && is_seen ? t.problems.build_unknown : t.differences[difference]}
    </State>
  );
}
