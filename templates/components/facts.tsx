import type { Child } from "hono/jsx";

export interface FactsProps {
  items: readonly (readonly [string, Child] | null)[];
  wide?: boolean | undefined;
}

/** Name and value pairs; a pair with a null value is left out. */
export function Facts({ items, wide }: FactsProps) {
  return (
    <dl class={wide === true ? "facts wide" : "facts"}>
      {items.map((item) =>
        item === null || item[1] === null ? null : (
          <div>
            <dt>{item[0]}</dt>
            <dd>{item[1]}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
