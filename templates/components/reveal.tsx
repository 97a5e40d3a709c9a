import type { Child } from "hono/jsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

/** A field of the type `password` that can be read while typing. `described_by`: the id of its label. */
export function Revealed({ ctx, described_by, children }: { ctx: PageContext; described_by: string; children: Child }) {
  const t = texts(ctx).common;
  return (
    <div class="password">
      {children}
      {/* app.js turns the field to text and back; the style sheet shows the current word. */}
      <button type="button" class="btn bare small scripted" data-reveal aria-describedby={described_by}>
        <span class="to-show">{t.show}</span>
        <span class="to-hide">{texts(ctx).auth.hide_password}</span>
      </button>
    </div>
  );
}
