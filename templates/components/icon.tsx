import { html } from "hono/html";
import { classes } from "../page.ts";
import { type IconName, icons } from "./icons.ts";

interface IconProps {
  name: IconName;
  /** For an icon without a word beside it; otherwise it is hidden from assistive technology. */
  label?: string | undefined;
  class?: string | undefined;
}

/** An icon in the colour and size of its text. `.icon` in the style sheet sets stroke and fill. */
export function Icon({ name, label, class: extra }: IconProps) {
  if (label !== undefined) return draw(name, extra, html`role="img" aria-label="${label}"`);
  return drawn.getOrInsertComputed(`${name} ${extra}`, () => draw(name, extra, html`aria-hidden="true"`));
}

type Drawn = ReturnType<typeof html>;

/** Those without a label, each once: a list has hundreds. */
const drawn = new Map<string, Drawn>();

/** As text: elements of `svg` cost several times as much as others. */
function draw(name: IconName, extra: string | undefined, said: Drawn): Drawn {
  return html`<svg class="${classes("icon", extra)}" viewBox="0 0 24 24" ${said}><path d="${icons[name]}"/></svg>`;
}

/** The product's mark: the line of the highest tide, and the water below it. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M4 5h16M12 5v4" />
      <path d="M2 14c2.5 0 2.5-2 5-2s2.5 2 5 2 2.5-2 5-2 2.5 2 5 2M2 20c2.5 0 2.5-2 5-2s2.5 2 5 2 2.5-2 5-2 2.5 2 5 2" />
    </svg>
  );
}
