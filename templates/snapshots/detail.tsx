import type { ExecutorView } from "../../src/executors/schema.ts";
import type { SnapshotDetailView } from "../../src/runs/schema.ts";
import { LinkButton } from "../components/button.tsx";
import { Later } from "../components/later.tsx";
import { Link } from "../components/link.tsx";
import { PageHeader, Panel, Section } from "../components/page-header.tsx";
import { SecretProblem } from "../components/secret-problem.tsx";
import { Badge } from "../components/state.tsx";
import { Layout } from "../layout.tsx";
import { type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { type Compared, SnapshotDiff } from "./diff.tsx";
import { SnapshotFacts } from "./questions.tsx";

interface SnapshotPageProps {
  ctx: PageContext;
  executor: ExecutorView;
  snapshot: Omit<SnapshotDetailView, "content">;
  compared: Compared;
}

/** One snapshot: its content, and what restoring it would change now. */
export function SnapshotPage(props: SnapshotPageProps) {
  const { ctx, executor, snapshot } = props;
  const t = texts(ctx).snapshots;
  const words = texts(ctx).executors;
  const path = `/executors/${executor.id}/snapshots/${snapshot.id}`;
  return (
    <Layout ctx={ctx} title={t.title_of(executor.name)} section="executors">
      <PageHeader
        ctx={ctx}
        title={t.title_of(executor.name)}
        parent={{ title: executor.name, href: `/executors/${executor.id}` }}
        state={snapshot.is_locked ? <Badge icon="lock">{words.locked}</Badge> : undefined}
        lead={
          snapshot.run_id === null ? undefined : (
            <Link ctx={ctx} href={`/runs/${snapshot.run_id}`}>
              {words.open_run}
            </Link>
          )
        }
        actions={
          snapshot.problem !== null ? (
            <LinkButton ctx={ctx} href={`${path}/delete`} icon="trash" opens_dialog>
              {texts(ctx).common.delete}
            </LinkButton>
          ) : (
            <>
              <LinkButton ctx={ctx} href={`${path}/restore`} kind="main" icon="undo-2" opens_dialog>
                {words.restore}
              </LinkButton>
              {executor.target.is_declarative ? null : (
                <LinkButton ctx={ctx} href={`${path}/export`} icon="arrow-down-to-line" opens_dialog>
                  {t.export}
                </LinkButton>
              )}
            </>
          )
        }
      />
      <SecretProblem ctx={ctx} problem={snapshot.problem} title={t.unreadable_title}>
        {t.unreadable_text}
      </SecretProblem>
      <Panel>
        <SnapshotFacts ctx={ctx} executor={executor} snapshot={snapshot} wide />
      </Panel>
      {snapshot.problem === null ? <SnapshotDiffSection {...props} /> : null}
    </Layout>
  );
}

/** The comparison asks the runtime, so it loads after the page; without script it has its own address. */
export function SnapshotDiffSection({ ctx, executor, snapshot, compared }: SnapshotPageProps) {
  const t = texts(ctx).snapshots;
  const address = `/executors/${executor.id}/snapshots/${snapshot.id}/diff`;
  if (compared !== null) {
    return (
      <Section id="diff" title={t.diff} aside={t.diff_lead}>
        <SnapshotDiff ctx={ctx} compared={compared} />
      </Section>
    );
  }
  return (
    <div hx-get={url(ctx, address)} hx-trigger="load" hx-swap="outerHTML">
      <Section id="diff" title={t.diff} aside={t.diff_lead}>
        <Later ctx={ctx} text={t.diff_loading} show={t.diff_show} href={address} />
      </Section>
    </div>
  );
}
