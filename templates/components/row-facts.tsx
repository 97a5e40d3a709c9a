import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Facts, type FactsProps } from "./facts.tsx";
import { Menu } from "./menu.tsx";

interface RowFactsProps extends Pick<FactsProps, "items"> {
  ctx: PageContext;
  /** What they are about. */
  of: string;
}

/** All facts of an entry at the end of its row, for lists that are too narrow to show them and entries without a page. */
export function RowFacts({ ctx, of, items }: RowFactsProps) {
  return (
    <span class="row-facts">
      <Menu label={texts(ctx).common.facts_of(of)} small items={<Facts items={items} />} />
    </span>
  );
}
