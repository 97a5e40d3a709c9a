import type { RunDetailView, RunLogView } from "../../src/runs/schema.ts";
import { Code } from "../components/code.tsx";
import { Panel, Section } from "../components/page-header.tsx";
import { Time } from "../components/time.tsx";
import type { PageContext } from "../page.ts";
import { translatePart } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

/** What the failed containers of a run wrote last; empty until one has failed. */
export function RunLogs({ ctx, run }: { ctx: PageContext; run: Pick<RunDetailView, "logs"> }) {
  if (run.logs.length === 0) return <section id="run-logs" />;
  return (
    <Section id="run-logs" title={texts(ctx).runs.logs.title}>
      <div class="logs">
        {run.logs.map((log) => (
          <Log ctx={ctx} log={log} />
        ))}
      </div>
    </Section>
  );
}

function Log({ ctx, log }: { ctx: PageContext; log: RunLogView }) {
  const t = texts(ctx).runs.logs;
  const { pod, container, is_previous, lines, why_data: why, at } = log;
  return (
    <div class="log">
      <h3>
        <span class="version">{container}</span>
      </h3>
      <p class="meta">
        {pod === "" ? null : <span>{t.pod(pod)}</span>}
        {is_previous ? <span>{t.previous}</span> : null}
        <span>
          {t.read_at} <Time ctx={ctx} at={at} form="precise" />
        </span>
      </p>
      {lines.length > 0 ? (
        <Code ctx={ctx} text={lines.join("\n")} what={t.what} wraps />
      ) : (
        <Panel>
          <p class="quiet">{why === null ? t.nothing : t.unread(translatePart(ctx.language, why))}</p>
        </Panel>
      )}
    </div>
  );
}
