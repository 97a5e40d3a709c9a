import type { ExecutorView } from "../../src/executors/schema.ts";
import { LinkButton, SharedButton } from "../components/button.tsx";
import type { IconName } from "../components/icons.ts";
import { Menu } from "../components/menu.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { OfferButton, OfferItems, offersFor } from "./actions.tsx";

interface RowActionsProps {
  ctx: PageContext;
  executor: ExecutorView;
  /** The latest snapshot; null if there is none. */
  snapshot_id: string | null;
}

/** A question that the state of an executor calls for. */
interface Asked {
  word: string;
  href: string;
  icon: IconName;
}

/** What an executor's state calls for: one button, and the rest in a menu; where there is no room, all of it there. */
export function RowActions({ ctx, executor, snapshot_id }: RowActionsProps) {
  const t = texts(ctx).executors.acts;
  const asked = askedBy(ctx, executor, snapshot_id);
  const offers = offersFor(executor);
  const canEnable = !executor.is_enabled;
  const enabling = `/executors/${executor.id}/enable`;
  // If nothing else is called for, the button ends the state itself, such as a hold.
  const first = asked.length === 0 && !canEnable ? offers[0]?.name : undefined;
  const isButton = first !== undefined && ending.has(first);
  if (asked.length + offers.length === 0 && !canEnable) return null;
  return (
    <>
      <span class="wide-actions">
        {asked.slice(0, 1).map(({ word, href }) => (
          <LinkButton ctx={ctx} href={href} small opens_dialog>
            {word}
          </LinkButton>
        ))}
        {canEnable ? (
          <SharedButton ctx={ctx} action={enabling} small>
            {t.enable}
          </SharedButton>
        ) : null}
        {isButton ? <OfferButton ctx={ctx} executor={executor} name={first} small /> : null}
      </span>
      <Menu
        id={`actions-${executor.id}`}
        label={t.menu_of(executor.name)}
        small
        items={
          <>
            {asked.map(({ word, href, icon }, index) => (
              <LinkButton ctx={ctx} kind="entry" href={href} icon={icon} opens_dialog is_narrow={index === 0}>
                {word}
              </LinkButton>
            ))}
            {canEnable ? (
              <SharedButton ctx={ctx} kind="entry" action={enabling} icon="play" is_narrow>
                {t.enable}
              </SharedButton>
            ) : null}
            <OfferItems ctx={ctx} id={executor.id} offers={offers} button={isButton ? first : undefined} />
          </>
        }
      />
    </>
  );
}

const ending: ReadonlySet<string> = new Set(["dismiss", "resume", "end_snooze", "unskip"]);

/** What its state calls for, the most likely first. */
export function askedBy(ctx: PageContext, executor: ExecutorView, snapshotId: string | null): readonly Asked[] {
  const t = texts(ctx);
  const { id, state, waiting, active_run_id, last_run, is_enabled } = executor;
  if (!is_enabled) return [];
  const run = (word: string): Asked => ({ word, href: `/executors/${id}/run`, icon: "play" });
  if (waiting?.reason === "approval" && active_run_id !== null) {
    return [{ word: t.runs.approval.approve, href: `/runs/${active_run_id}/approve`, icon: "check" }];
  }
  if (active_run_id !== null) return [];
  if (state === "update" || state === "waiting") return [run(t.executors.acts.update)];
  if (state === "dismissed") return [run(t.common.retry)];
  return state === "failed" && last_run !== null ? askedAfter(ctx, { ...last_run, executor_id: id }, snapshotId) : [];
}

/** What a run that failed or was degraded calls for. */
export function askedAfter(
  ctx: PageContext,
  { executor_id, state, serving }: { executor_id: string; state: string; serving: string | null },
  snapshotId: string | null,
): readonly Asked[] {
  const t = texts(ctx);
  const path = `/executors/${executor_id}`;
  const retry: Asked = { word: t.common.retry, href: `${path}/run`, icon: "play" };
  const back: Asked = { word: t.runs.roll_back, href: `${path}/snapshots/${snapshotId}/restore`, icon: "undo-2" };
  return [...(state === "failed" ? [retry] : []), ...(serving === "previous" || snapshotId === null ? [] : [back])];
}
