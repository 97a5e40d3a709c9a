import type { EventView } from "../../src/notifications/schema.ts";
import { maturities } from "../../src/versions/maturity.ts";
import { type LaterButOlder, laterButOlder } from "../../src/versions/older-lines.ts";
import type { PageContext } from "../page.ts";
import { memberWord } from "./channel-words.ts";

function member(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Object.getOwnPropertyDescriptor(value, key)?.value : undefined;
}

/** Why the event's version is not the newest, and which one is; null when the event does not say. */
export function remarkOf({ facts }: EventView): { code: LaterButOlder; newest: string } | null {
  const code = laterButOlder.find((known) => known === member(facts.remark, "code"));
  const newest = member(member(facts.remark, "params"), "newest");
  return code === undefined || typeof newest !== "string" ? null : { code, newest };
}

/** The name of the event's channel, adjusted to its version's maturity. */
export function channelOf(ctx: PageContext, { facts }: EventView): string | null {
  const maturity = maturities.find((each) => each === facts.maturity) ?? "release";
  return typeof facts.channel === "string" ? memberWord(ctx, facts.channel, maturity) : null;
}
