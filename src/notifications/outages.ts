import * as v from "valibot";
import { newId } from "../ids.ts";
import type { Parts } from "../parts.ts";
import { RecentMap } from "../recent-map.ts";
import {
  deleteNotice,
  deleteUnconcerned,
  findNotice,
  insertNotice,
  type NoticeRow,
  updateNotice,
} from "./outage-queries.ts";
import { Outage, type OutageNotices, outageEvents, outageNotifiedAfterMs } from "./outage-schema.ts";
import type { RecordEvent } from "./schema.ts";

interface OutageNoticesOptions extends Pick<Parts, "clock" | "counted"> {
  recordEvent: RecordEvent;
}

/** More than are ongoing at once. */
const rememberedOutages = 1_000;

/**
 * Turns what fails for long into one event, and its end into another. How long it has lasted is measured by elapsed time and stored with
 * each failure: neither a clock that was set nor a restart counts as time that passed.
 */
export function outageNotices({ clock, counted, recordEvent }: OutageNoticesOptions): OutageNotices {
  /** When each began by this process's elapsed time. */
  const beginnings = new RecentMap<string, number>(rememberedOutages);

  const lastedOf = ({ id, lasted_ms }: NoticeRow): number => {
    const now = clock.elapsed();
    const beginning = beginnings.get(id) ?? now - lasted_ms;
    beginnings.set(id, beginning);
    // Another process may have seen more of it.
    return Math.max(now - beginning, lasted_ms);
  };

  /** By the clock, as pages show it, unless it was set meanwhile. */
  const lengthOf = (notice: NoticeRow, since: number): number => {
    const length = clock.now() - since;
    const isPossible = length >= 0 && length <= counted.latest() - notice.counted_since;
    return isPossible ? length : lastedOf(notice);
  };

  return {
    failing: async (tx, subject, describe) => {
      const notice = await findNotice(tx, subject);
      if (notice === null) {
        const first = { id: newId(clock.now()), lasted_ms: 0, counted_since: counted.counted(), outage: null };
        await insertNotice(tx, { ...first, ...subject });
        lastedOf({ ...first, ...subject });
        return true;
      }
      if (notice.outage !== null) return false;
      const lasted_ms = lastedOf(notice);
      if (lasted_ms < outageNotifiedAfterMs) {
        await updateNotice(tx, notice.id, { lasted_ms });
        return true;
      }
      const outage = await describe();
      if (outage === null) return false;
      await updateNotice(tx, notice.id, { lasted_ms, outage });
      const facts = { ...outage, outage: notice.id, lasted_ms: null };
      await recordEvent(tx, { kind: outageEvents[outage.cause].begin, facts });
      return false;
    },

    over: async (tx, subject) => {
      const notice = await deleteNotice(tx, subject);
      if (notice === null || notice.outage === null) return;
      const outage = v.parse(Outage, notice.outage);
      const facts = { ...outage, outage: notice.id, lasted_ms: lengthOf(notice, outage.since) };
      await recordEvent(tx, { kind: outageEvents[outage.cause].end, facts });
    },

    forget: deleteUnconcerned,
  };
}
