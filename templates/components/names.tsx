import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Link } from "./link.tsx";

interface NamesProps {
  ctx: PageContext;
  names: readonly string[];
  /** How many there are besides. */
  more: number;
  /** Where each leads; they are no links without it. */
  pathOf?: ((name: string) => string) | undefined;
}

/** The first of several names, and how many more there are: "web, db and 3 more". */
export function Names({ ctx, names, more, pathOf }: NamesProps) {
  return (
    <>
      {names.map((name, index) => (
        <>
          {index === 0 ? null : ctx.language === "zh" ? "、" : ", "}
          {pathOf === undefined ? (
            name
          ) : (
            <Link ctx={ctx} href={pathOf(name)}>
              {name}
            </Link>
          )}
        </>
      ))}
      {more > 0 ? ` ${texts(ctx).overview.more(more)}` : null}
    </>
  );
}
