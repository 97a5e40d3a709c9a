import type { Child } from "hono/jsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { Icon } from "./icon.tsx";

/** A dialog whose content is in the page already; opened by an element with `data-dialog="<id>"`. */
export function Dialog({ id, title, ctx, children }: { id: string; title: string; ctx: PageContext; children: Child }) {
  const t = texts(ctx).common;
  return (
    <dialog id={id} aria-labelledby={`${id}-title`}>
      <div class="dialog-header">
        <h2 id={`${id}-title`}>{title}</h2>
        <button type="button" class="btn bare square" data-close aria-label={t.close} title={t.close}>
          <Icon name="x" />
        </button>
      </div>
      {children}
    </dialog>
  );
}
