import type { ReleaseRemark } from "../../src/notifications/schema.ts";
import type { Maturity } from "../../src/versions/maturity.ts";
import type { LaterButOlder } from "../../src/versions/older-lines.ts";
import { Badge } from "../components/state.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { memberWord } from "./channel-words.ts";

/** A channel that takes a version. */
interface Taker {
  name: string;
  maturity: Maturity;
  is_latest: boolean;
  /** For a latest that is not the newest version. */
  remark?: ReleaseRemark | null;
}

/** A version's role in its channels: their latest, or why not although it was published last. */
function placesOf(takers: readonly Taker[]): readonly ("latest" | LaterButOlder)[] {
  const [leading] = takers.filter(({ is_latest }) => is_latest);
  return leading === undefined ? [] : [leading.remark?.code ?? "latest"];
}

/** Badges of a version before the others are counted. */
const shownPills = 4;

/** The channels that take a version, each word once, adjusted to the version's maturity; those that it leads come first. */
export function ChannelPills({ ctx, takers }: { ctx: PageContext; takers: readonly Taker[] }) {
  const t = texts(ctx).trackers;
  const byWord = Map.groupBy(takers, ({ name, maturity }) => memberWord(ctx, name, maturity));
  const pills = [...byWord].map(([word, those]) => [word, ...placesOf(those).map((place) => t.places[place])]);
  const words = pills.toSorted((a, b) => b.length - a.length).map((pill) => pill.join(" · "));
  const others = words.slice(shownPills);
  return (
    <>
      {words.slice(0, shownPills).map((word) => (
        <Badge>{word}</Badge>
      ))}
      {others.length === 0 ? null : <Badge title={others.join(", ")}>{t.more_channels(others.length)}</Badge>}
    </>
  );
}
