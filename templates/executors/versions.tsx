import type { Child } from "hono/jsx";
import type { ServiceObservation } from "../../src/executors/observation-schema.ts";
import type { ExecutorView } from "../../src/executors/schema.ts";
import { Behind, furthestBehind } from "../components/behind.tsx";
import { Names } from "../components/names.tsx";
import { FromTo, shortDigest, Version } from "../components/version.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

/** A tag, else the digest. */
function named(tag: string | null, digest: string | null): string | null {
  return tag ?? (digest === null ? null : shortDigest(digest));
}

/** Names of two versions; of builds of the same tag the digests, after the tag. */
export function versionPair(
  from: { tag: string | null; digest: string | null },
  to: { tag: string | null; digest: string | null },
): { from: string | null; to: string | null } {
  const before = named(from.tag, from.digest);
  const after = named(to.tag, to.digest);
  if (before === null || after === null || before !== after) return { from: before, to: after };
  if (from.digest === null || to.digest === null || from.digest === to.digest) return { from: null, to: after };
  return { from: `${before} ${shortDigest(from.digest)}`, to: shortDigest(to.digest) };
}

/** What is shown of a service: one version if it runs what it should, both if they differ, none before the first look. */
function shownVersions({ found, desired, difference }: ServiceObservation) {
  const isSame = difference === "current" || difference === "other_mode" || difference === "other_tag";
  if (desired === null || isSame) {
    const present = found === null ? null : named(found.tag, found.digest ?? found.image_id);
    return { differs: false, from: null, to: present };
  }
  const pair = versionPair({ tag: found?.tag ?? null, digest: found?.digest ?? null }, desired);
  return { differs: true, from: pair.from, to: pair.to ?? desired.version };
}

/** Whether any version is known. */
export function hasVersion({ services }: Pick<ExecutorView, "services">): boolean {
  return services.some((service) => shownVersions(service).to !== null);
}

/** Current and desired version of services that change alike, and how far the furthest of them is behind. */
function VersionsOf({
  ctx,
  services,
}: {
  ctx: PageContext;
  services: readonly [ServiceObservation, ...ServiceObservation[]];
}) {
  const { differs, from, to } = shownVersions(services[0]);
  if (to === null) return <span class="quiet">–</span>;
  if (!differs) return <Version>{to}</Version>;
  return (
    <span class="change">
      <FromTo ctx={ctx} from={from} to={to} />{" "}
      <Behind ctx={ctx} behind={furthestBehind(services.map((each) => each.behind))} />
    </span>
  );
}

export function ServiceVersions({ ctx, service }: { ctx: PageContext; service: ServiceObservation }) {
  return <VersionsOf ctx={ctx} services={[service]} />;
}

/** Whether a run would change its content. */
export function isBehind({ difference }: Pick<ServiceObservation, "difference">): boolean {
  return difference === "new_digest" || difference === "other_version" || difference === "other_name";
}

/** Lines of a list's row, and names in each of them; the other services are counted, beside the first name of a line with more. */
const lineLimit = 3;
const namesLimit = 3;

interface ServiceLinesProps<Service> {
  ctx: PageContext;
  services: readonly Service[];
  /** Null for a container, whose one service has no name of its own. */
  nameOf: (service: Service) => string | null;
  /** The text of a line; services with the same text share one. */
  versionsOf: (service: Service) => string;
  children: (alike: readonly [Service, ...Service[]]) => Child;
  /** Names all of them. */
  is_whole?: boolean | undefined;
}

/** The versions of several services, with one line for those that change alike: "web, worker 2.18.4 → 3.0.5". */
export function ServiceLines<Service>(props: ServiceLinesProps<Service>) {
  const { ctx, services, nameOf, versionsOf, children, is_whole = false } = props;
  const lines = [...Map.groupBy(services, versionsOf).values()];
  const shown = lines.slice(0, is_whole ? lines.length : lineLimit);
  const left = lines.slice(shown.length).flat().length;
  return (
    <span class="service-versions">
      {shown.map(([first, ...others]) => {
        if (first === undefined) return null;
        const names = [first, ...others].map(nameOf).filter((name) => name !== null);
        const named = is_whole || names.length <= namesLimit ? names : names.slice(0, 1);
        return (
          <span>
            {named.length === 0 ? null : (
              <span class="names">
                <Names ctx={ctx} names={named} more={names.length - named.length} />
              </span>
            )}{" "}
            {children([first, ...others])}
          </span>
        );
      })}
      {left === 0 ? null : <small class="quiet">{texts(ctx).executors.more_services(left)}</small>}
    </span>
  );
}

interface ExecutorVersionsProps {
  ctx: PageContext;
  executor: Pick<ExecutorView, "services" | "target">;
  /** However many services there are. */
  is_whole?: boolean;
}

/** For a container its versions; for a group those of the services that will change, else of all. */
export function ExecutorVersions({ ctx, executor, is_whole }: ExecutorVersionsProps) {
  const { services, target } = executor;
  const [first] = services;
  if (first === undefined) return <span class="quiet absent">–</span>;
  if (!target.is_group) return <ServiceVersions ctx={ctx} service={first} />;
  const behind = services.filter(isBehind);
  return (
    <ServiceLines
      ctx={ctx}
      services={behind.length > 0 ? behind : services}
      is_whole={is_whole}
      nameOf={({ service }) => service}
      versionsOf={(service) => JSON.stringify(shownVersions(service))}
    >
      {(alike) => <VersionsOf ctx={ctx} services={alike} />}
    </ServiceLines>
  );
}
