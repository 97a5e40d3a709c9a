import type { ExecutorView } from "../../src/executors/schema.ts";
import { formatClock, formatList, formatShort, formatWeekday } from "../format.ts";
import type { Language, PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

type Window = NonNullable<ExecutorView["window"]>;
type Opening = ExecutorView["next_windows"][number];

const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
const dayMs = 86_400_000;
/** A Monday in UTC: 5 January 1970. */
const someMonday = 4 * dayMs;

/** From `Intl`, so that no list of names has to be maintained. */
function weekdayName(language: Language, day: Window["days"][number]): string {
  return formatWeekday({ language, time_zone: "UTC" }, someMonday + days.indexOf(day) * dayMs);
}

/** "Mon, Wed and Sat" in the order of the week. */
export function weekdayList(language: Language, chosen: Window["days"]): string {
  return formatList(
    language,
    days.filter((day) => chosen.includes(day)).map((day) => weekdayName(language, day)),
  );
}

/** "Sat 24 Oct, 02:00 to 04:00" in the system time zone. */
export function openingWords(ctx: PageContext, opening: Opening): string {
  const from = formatShort(ctx, opening.opens_at, { weekday: "short" });
  return texts(ctx).executors.window_opening(from, formatClock(ctx, opening.closes_at));
}

/** "Sat 02:00": for places with no room for more. */
export function openingStart(ctx: PageContext, opening: Opening): string {
  return `${formatWeekday(ctx, opening.opens_at)} ${formatClock(ctx, opening.opens_at)}`;
}
