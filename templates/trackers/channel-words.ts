import { type ChannelType, isChannelType } from "../../src/trackers/schema.ts";
import { type Maturity, namedAs } from "../../src/versions/maturity.ts";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

type Reader = Pick<PageContext, "language">;

/** A channel's display name: its own name, or the word for its type. */
export function channelWord(ctx: Reader, name: string): string {
  return isChannelType(name) ? texts(ctx).trackers.channels[name] : name;
}

/** The word for a version in a channel: a candidate in a stable channel is no stable version. */
export function memberWord(ctx: Reader, name: string, maturity: Maturity): string {
  return channelWord(ctx, namedAs(name, maturity));
}

/** `16 (Stable)`, for choosing between channels: the name alone does not tell the type. */
export function channelTitle(ctx: Reader, { name, type }: { name: string; type: ChannelType }): string {
  const t = texts(ctx).trackers;
  return name === type ? t.channels[type] : t.named_channel(name, t.channels[type]);
}
