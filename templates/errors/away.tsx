import { Button } from "../components/button.tsx";
import { StandInLayout } from "../layout.tsx";
import { type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";

interface AwayPageProps {
  ctx: PageContext;
  /** What got no response: an address that was opened, or a form that was sent. */
  what: "opened" | "sent";
}

/** The page that the service worker shows while the server does not respond; `away.js` updates it. Contains no data of any session. */
export function AwayPage({ ctx, what }: AwayPageProps) {
  const t = texts(ctx).common.away;
  const { title, lead } = t[what];
  return (
    <StandInLayout ctx={ctx} title={title}>
      <div class="error-page" data-away={what} data-responds={t.responds}>
        <h1>{title}</h1>
        <p class="lead">{lead}</p>
        <p class="error-actions">
          {what === "sent" ? (
            <a class="btn main" href={url(ctx, "/")} data-away-back>
              {t.back}
            </a>
          ) : null}
          <Button kind={what === "sent" ? "plain" : "main"} attributes={{ "data-away-ask": "" }}>
            {t.ask}
          </Button>
        </p>
        {/* Not announced: it changes every second. */}
        <p class="help num" data-away-wait data-waits={t.waits} data-asks={t.asks} />
        <output data-away-responds />
        <p class="help">{t.bypass}</p>
      </div>
    </StandInLayout>
  );
}
