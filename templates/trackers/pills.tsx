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

/** The channels that take a version, each word once, adjusted to the version's maturity. */
export function ChannelPills({ ctx, takers }: { ctx: PageContext; takers: readonly Taker[] }) {
  const t = texts(ctx).trackers;
  const byWord = Map.groupBy(takers, ({ name, maturity }) => memberWord(ctx, name, maturity));
  return (
    <>
      {[...byWord].map(([word, those]) => (
        <Badge>{[word, ...placesOf(those).map((place) => t.places[place])].join(" · ")}</Badge>
      ))}
    </>
  );
}
