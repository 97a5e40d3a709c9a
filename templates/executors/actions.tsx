import type { ExecutorView } from "../../src/executors/schema.ts";
import { SharedButton } from "../components/button.tsx";
import type { IconName } from "../components/icons.ts";
import { Menu } from "../components/menu.tsx";
import { Banner } from "../components/notice.tsx";
import { formatShort } from "../format.ts";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

type ActionName = keyof ReturnType<typeof texts>["executors"]["acts"]["names"];

interface Offer {
  name: ActionName;
  icon: IconName;
  fields: Fields;
}

/** The action, and at most one other field. */
interface Fields extends Readonly<Record<string, string>> {
  action: string;
}

/** What the form of an action is sent to. */
export function actionsPath(id: string): string {
  return `/executors/${id}/actions`;
}

/** How a button sends an action. */
export function sent(id: string, { action, ...others }: Fields) {
  const [field] = Object.entries(others);
  return { action: `${actionsPath(id)}?action=${action}`, name: field?.[0], value: field?.[1] };
}

/** What decides on the offers. */
export type Decidable = Pick<
  ExecutorView,
  | "id"
  | "is_enabled"
  | "trigger"
  | "held_since"
  | "snoozed_until"
  | "update_revision"
  | "is_version_skipped"
  | "dismissible_run_id"
>;

/** What can be done about an executor's updates beside running one, the most likely first. */
export function offersFor(executor: Decidable): readonly Offer[] {
  const { dismissible_run_id, update_revision, is_version_skipped, held_since, snoozed_until, trigger } = executor;
  const isHeld = held_since !== null;
  const isSnoozed = snoozed_until !== null;
  const isAutomatic = trigger !== "manual" && executor.is_enabled;
  const canSnooze = !isHeld && !isSnoozed && (isAutomatic || update_revision !== null);
  const offers: readonly (Offer | null)[] = [
    dismissible_run_id === null
      ? null
      : { name: "dismiss", icon: "check", fields: { action: "dismiss", run_id: dismissible_run_id } },
    isHeld ? { name: "resume", icon: "play", fields: { action: "resume" } } : null,
    isSnoozed ? { name: "end_snooze", icon: "play", fields: { action: "end_snooze" } } : null,
    is_version_skipped ? { name: "unskip", icon: "undo-2", fields: { action: "unskip" } } : null,
    update_revision === null
      ? null
      : { name: "skip", icon: "circle-minus", fields: { action: "skip", revision: update_revision } },
    canSnooze ? { name: "snooze_day", icon: "clock", fields: { action: "snooze", for_hours: "24" } } : null,
    canSnooze ? { name: "snooze_week", icon: "calendar-clock", fields: { action: "snooze", for_hours: "168" } } : null,
    isAutomatic && !isHeld ? { name: "hold", icon: "pause", fields: { action: "hold" } } : null,
  ];
  return offers.filter((offer) => offer !== null);
}

interface OfferProps {
  ctx: PageContext;
  executor: ExecutorView;
}

interface OfferItemsProps {
  ctx: PageContext;
  /** Of the executor. */
  id: string;
  offers: readonly Offer[];
  /** The one that has a button beside the menu. */
  button?: ActionName | undefined;
}

/** As entries of a menu. */
export function OfferItems({ ctx, id, offers, button }: OfferItemsProps) {
  return (
    <>
      {offers.map(({ name, icon, fields }) => (
        <SharedButton ctx={ctx} {...sent(id, fields)} kind="entry" icon={icon} is_narrow={name === button}>
          {texts(ctx).executors.acts.names[name]}
        </SharedButton>
      ))}
    </>
  );
}

/** All of them in a menu, on the executor's page. */
export function ActionsMenu({ ctx, executor }: OfferProps) {
  const t = texts(ctx).executors.acts;
  const offers = offersFor(executor);
  if (offers.length === 0) return null;
  return (
    <Menu label={t.menu} items={<OfferItems ctx={ctx} id={executor.id} offers={offers} />}>
      {t.updates}
    </Menu>
  );
}

interface OfferButtonProps {
  ctx: PageContext;
  executor: Decidable;
  name: ActionName;
  /** In a row, whose subject its updates are. */
  small?: boolean;
}

/** One of them as a button; nothing if it is not offered. */
export function OfferButton({ ctx, executor, name, small }: OfferButtonProps) {
  const offer = offersFor(executor).find((each) => each.name === name);
  if (offer === undefined) return null;
  const { names, row_names } = texts(ctx).executors.acts;
  const words = small === true ? { ...names, ...row_names } : names;
  return (
    <SharedButton ctx={ctx} {...sent(executor.id, offer.fields)} small={small}>
      {words[name]}
    </SharedButton>
  );
}

/** What was decided about its updates, why, and how to end it. */
export function DeferralBanners({ ctx, executor }: OfferProps) {
  const t = texts(ctx).executors.acts;
  const { held_since, snoozed_until } = executor;
  return (
    <>
      {held_since === null ? null : (
        <Banner
          tone="quiet"
          title={t.held_title(formatShort(ctx, held_since))}
          action={<OfferButton ctx={ctx} executor={executor} name="resume" />}
        >
          {t.held_text}
        </Banner>
      )}
      {snoozed_until === null ? null : (
        <Banner
          tone="quiet"
          title={t.snoozed_title(formatShort(ctx, snoozed_until))}
          action={<OfferButton ctx={ctx} executor={executor} name="end_snooze" />}
        >
          {t.snoozed_text}
        </Banner>
      )}
      {executor.is_version_skipped ? (
        <Banner
          tone="quiet"
          title={t.skipped_title(desiredTags(executor))}
          action={<OfferButton ctx={ctx} executor={executor} name="unskip" />}
        >
          {t.skipped_text}
        </Banner>
      ) : null}
    </>
  );
}

/** What a manual run overrides; nothing if nothing was decided. */
export function Overrides({ ctx, executor }: OfferProps) {
  const t = texts(ctx).executors.acts;
  const { held_since, snoozed_until, is_version_skipped } = executor;
  const said = [
    held_since === null ? null : t.overrides.held,
    snoozed_until === null ? null : t.overrides.snoozed(formatShort(ctx, snoozed_until)),
    is_version_skipped ? t.overrides.skipped : null,
  ].filter((each) => each !== null);
  if (said.length === 0) return null;
  return (
    <Banner tone="attention" title={t.overrides.title}>
      {said.map((each) => (
        <p>{each}</p>
      ))}
    </Banner>
  );
}

/** "1.4.2", or the versions of several services. */
function desiredTags({ services }: ExecutorView): string {
  const tags = services.flatMap(({ desired, difference }) =>
    desired === null || difference === "current" ? [] : [desired.tag],
  );
  return [...new Set(tags)].join(", ");
}
