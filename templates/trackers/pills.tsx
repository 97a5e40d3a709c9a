import type { ChannelType } from "../../src/trackers/schema.ts";
import { type Maturity, namedAs } from "../../src/versions/maturity.ts";
import { Badge } from "../components/state.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

/** A channel that takes a version. */
interface Taker {
  type: ChannelType;
  maturity: Maturity;
  is_latest: boolean;
}

/** The channels that take a version, each name once, by the name that the version may bear there. */
export function ChannelPills({ ctx, takers }: { ctx: PageContext; takers: readonly Taker[] }) {
  const t = texts(ctx).trackers;
  const byName = Map.groupBy(takers, ({ type, maturity }) => namedAs(type, maturity));
  return (
    <>
      {[...byName].map(([name, those]) => (
        <Badge>
          {those.some(({ is_latest }) => is_latest) ? `${t.channels[name]} · ${t.latest}` : t.channels[name]}
        </Badge>
      ))}
    </>
  );
}
