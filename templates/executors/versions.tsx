import type { ExecutorView, ServiceObservation } from "../../src/executors/schema.ts";
import { Behind } from "../components/behind.tsx";
import { FromTo, shortDigest, Version } from "../components/version.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

/** A tag, else the digest. */
function named(tag: string | null, digest: string | null): string | null {
  return tag ?? (digest === null ? null : shortDigest(digest));
}

/** Names of two versions; the digests are added if the tags are the same. */
export function versionPair(
  from: { tag: string | null; digest: string | null },
  to: { tag: string | null; digest: string | null },
): { from: string | null; to: string | null } {
  const before = named(from.tag, from.digest);
  const after = named(to.tag, to.digest);
  if (before === null || after === null || before !== after) return { from: before, to: after };
  if (from.digest === null || to.digest === null || from.digest === to.digest) return { from: null, to: after };
  return { from: `${before} ${shortDigest(from.digest)}`, to: `${after} ${shortDigest(to.digest)}` };
}

/** Current and desired version of one service: one if they are the same, both if they differ. */
export function ServiceVersions({ ctx, service }: { ctx: PageContext; service: ServiceObservation }) {
  const { found, desired, difference } = service;
  const present = found === null ? null : named(found.tag, found.digest ?? found.image_id);
  const isSame = difference === "current" || difference === "other_mode" || difference === "other_tag";
  if (desired === null || isSame) {
    return present === null ? <span class="quiet">–</span> : <Version>{present}</Version>;
  }
  const pair = versionPair(
    { tag: found?.tag ?? null, digest: found?.digest ?? null },
    { tag: desired.tag, digest: desired.digest },
  );
  return (
    <>
      <FromTo ctx={ctx} from={pair.from} to={pair.to ?? desired.version} /> <Behind ctx={ctx} behind={service.behind} />
    </>
  );
}

/** Whether a run would change its content. */
export function isBehind({ difference }: Pick<ServiceObservation, "difference">): boolean {
  return difference === "new_digest" || difference === "other_version" || difference === "other_name";
}

/** How many services of a group are named in one line. */
const namedServices = 3;

/** For a container its versions; for a group those of the services that will change, else of all. */
export function ExecutorVersions({
  ctx,
  executor,
}: {
  ctx: PageContext;
  executor: Pick<ExecutorView, "services" | "target">;
}) {
  const { services, target } = executor;
  const [first] = services;
  if (first === undefined) return <span class="quiet">–</span>;
  if (!target.is_group) {
    return (
      <span>
        <ServiceVersions ctx={ctx} service={first} />
      </span>
    );
  }
  const behind = services.filter(isBehind);
  const told = behind.length > 0 ? behind : services;
  const shown = told.slice(0, namedServices);
  return (
    <span class="service-versions">
      {shown.map((service) => (
        <span>
          {service.service} <ServiceVersions ctx={ctx} service={service} />
        </span>
      ))}
      {told.length === shown.length ? null : (
        <small class="quiet">{texts(ctx).executors.more_services(told.length - shown.length)}</small>
      )}
    </span>
  );
}
