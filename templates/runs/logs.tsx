import type { RunDetailView, RunLogView } from "../../src/runs/schema.ts";
import { LinkButton } from "../components/button.tsx";
import { Code } from "../components/code.tsx";
import { Confirm, type QuestionProps } from "../components/confirm.tsx";
import { Facts } from "../components/facts.tsx";
import { Panel, Section } from "../components/page-header.tsx";
import { SecretReason } from "../components/secret-problem.tsx";
import { Time } from "../components/time.tsx";
import type { PageContext } from "../page.ts";
import { translatePart } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

/** What the failed containers of a run wrote last; empty until one has failed. */
export function RunLogs({ ctx, run }: { ctx: PageContext; run: Pick<RunDetailView, "id" | "logs"> }) {
  if (run.logs.length === 0) return <section id="run-logs" />;
  return (
    <Section id="run-logs" title={texts(ctx).runs.logs.title}>
      <div class="logs">
        {run.logs.map((log) => (
          <Log ctx={ctx} run_id={run.id} log={log} />
        ))}
      </div>
    </Section>
  );
}

interface LogProps {
  ctx: PageContext;
  run_id: string;
  log: RunLogView;
}

function Log({ ctx, run_id, log }: LogProps) {
  const t = texts(ctx).runs.logs;
  const { id, pod, container, is_previous, lines, why_data, problem, at } = log;
  const why = problem?.message_data ?? why_data;
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
          {problem === null ? null : (
            <LinkButton ctx={ctx} href={`/runs/${run_id}/logs/${id}/delete`} icon="trash" small opens_dialog>
              {t.delete}
            </LinkButton>
          )}
        </Panel>
      )}
    </div>
  );
}

/** The question before a stored log is deleted. */
export function DeleteLog({ ctx, run_id, log, error }: QuestionProps<Omit<LogProps, "ctx">>) {
  const t = texts(ctx).runs.logs;
  const { id, pod, container, problem, at } = log;
  return (
    <Confirm
      ctx={ctx}
      section="runs"
      title={t.delete_title}
      verb={t.delete}
      action={`/runs/${run_id}/logs/${id}/delete`}
      cancel_href={`/runs/${run_id}`}
      error={error}
    >
      <Facts
        items={[
          [texts(ctx).audit_facts.names.container, <bdi>{pod === "" ? container : `${pod} · ${container}`}</bdi>],
          [t.read_label, <Time ctx={ctx} at={at} form="short" />],
        ]}
      />
      {problem === null ? null : (
        <SecretReason ctx={ctx} problem={problem}>
          {t.delete_unreadable}
        </SecretReason>
      )}
      <p>{t.delete_text}</p>
    </Confirm>
  );
}
