import type { PageContext } from "../page.ts";
import { LinkButton } from "./button.tsx";
import { Panel } from "./page-header.tsx";
import { State } from "./state.tsx";

interface LaterProps {
  ctx: PageContext;
  /** "Loading from the engine …" */
  text: string;
  /** Leads there without script. */
  show: string;
  href: string;
}

/** A placeholder for content loaded after its page. */
export function Later({ ctx, text, show, href }: LaterProps) {
  return (
    <Panel>
      <div class="scripted">
        <State ctx={ctx} tone="running">
          {text}
        </State>
      </div>
      <div class="unscripted">
        <LinkButton ctx={ctx} href={href}>
          {show}
        </LinkButton>
      </div>
    </Panel>
  );
}
