import type { Maturity } from "../../src/versions/maturity.ts";
import { Badge } from "../components/state.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { memberWord } from "./channel-words.ts";

/** A channel that takes a version. */
interface Taker {
  name: string;
  maturity: Maturity;
  is_latest: boolean;
}

/** The channels that take a version, each word once, by the word that the version may bear there. */
export function ChannelPills({ ctx, takers }: { ctx: PageContext; takers: readonly Taker[] }) {
  const t = texts(ctx).trackers;
  const byWord = Map.groupBy(takers, ({ name, maturity }) => memberWord(ctx, name, maturity));
  return (
    <>
      {[...byWord].map(([word, those]) => (
        <Badge>{those.some(({ is_latest }) => is_latest) ? `${word} · ${t.latest}` : word}</Badge>
      ))}
    </>
  );
}
