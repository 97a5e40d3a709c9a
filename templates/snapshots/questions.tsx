import type { ExecutorView } from "../../src/executors/schema.ts";
import type { Message } from "../../src/messages/message.ts";
import type { Problem } from "../../src/messages/schema.ts";
import type { SnapshotView } from "../../src/runs/schema.ts";
import { Confirm, NothingAsked } from "../components/confirm.tsx";
import { Facts } from "../components/facts.tsx";
import { SecretReason } from "../components/secret-problem.tsx";
import { Time } from "../components/time.tsx";
import { Digest, Reference } from "../components/version.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { type Compared, SnapshotDiff } from "./diff.tsx";

export interface SnapshotQuestionProps {
  ctx: PageContext;
  executor: ExecutorView;
  snapshot: SnapshotView;
  error?: Message | undefined;
}

/** Beside each other where there is room: on the page of its own. */
export function SnapshotFacts({ ctx, executor, snapshot, wide }: SnapshotQuestionProps & { wide?: boolean }) {
  const t = texts(ctx).executors;
  const [service] = executor.services;
  const taken = [t.snapshot_taken, <Time ctx={ctx} at={snapshot.created_at} form="short" />] as const;
  // One image does not represent a group; the comparison names each.
  if (executor.target.is_group) {
    return <Facts wide={wide} items={[[t.snapshot, <b class="version">{executor.target.id}</b>], taken]} />;
  }
  return (
    <Facts
      wide={wide}
      items={[
        service?.found === undefined || service.found === null
          ? null
          : [t.plan_now, <Reference>{service.found.image}</Reference>],
        [
          t.snapshot,
          <b>
            <Reference>{snapshot.reference}</Reference>
          </b>,
        ],
        snapshot.digest === null ? null : [t.digest, <Digest ctx={ctx} value={snapshot.digest} />],
        taken,
      ]}
    />
  );
}

function restoreText({ ctx, executor: { target } }: SnapshotQuestionProps): string {
  const t = texts(ctx).executors;
  if (target.is_declarative) return t.declarative_restore_text;
  return target.is_group ? t.group_restore_text : t.restore_text;
}

interface SnapshotRestoreProps extends SnapshotQuestionProps {
  compared: Exclude<Compared, null>;
}

interface SnapshotUnreadableProps extends SnapshotQuestionProps {
  /** Of the question. */
  title: string;
  problem: Problem;
}

/** In place of a question about a snapshot that cannot be read. */
export function SnapshotUnreadable({ title, problem, ...props }: SnapshotUnreadableProps) {
  const { ctx, executor } = props;
  const t = texts(ctx).snapshots;
  const back = `/executors/${executor.id}`;
  return (
    <NothingAsked {...{ ctx, title, back }} section="executors" heading={t.unreadable_title}>
      <SnapshotFacts {...props} />
      <SecretReason ctx={ctx} problem={problem}>
        {t.unreadable_text}
      </SecretReason>
    </NothingAsked>
  );
}

/** What restoring a snapshot changes, field by field, alone or as a page; the shown plan is the one that is carried out. */
export function SnapshotRestore(props: SnapshotRestoreProps) {
  const { ctx, executor, snapshot, compared, error } = props;
  const t = texts(ctx).executors;
  return (
    <Confirm
      ctx={ctx}
      section="executors"
      title={t.restore_title(executor.name)}
      verb={t.restore_verb}
      kind="main"
      action={`/executors/${executor.id}/snapshots/${snapshot.id}/restore`}
      fields={"view" in compared ? { plan_hash: compared.view.plan_hash } : {}}
      cancel_href={`/executors/${executor.id}`}
      error={error}
    >
      <SnapshotFacts {...props} />
      <SnapshotDiff ctx={ctx} compared={compared} />
      <p>{restoreText(props)}</p>
      <p>
        <b>{t.restore_data}</b>
      </p>
    </Confirm>
  );
}

export function SnapshotDelete(props: SnapshotQuestionProps) {
  const { ctx, executor, snapshot, error } = props;
  const t = texts(ctx).executors;
  return (
    <Confirm
      ctx={ctx}
      section="executors"
      title={t.snapshot_delete_title}
      verb={t.snapshot_delete}
      action={`/executors/${executor.id}/snapshots/${snapshot.id}/delete`}
      cancel_href={`/executors/${executor.id}`}
      error={error}
    >
      <SnapshotFacts {...props} />
      <p>{t.snapshot_delete_text}</p>
    </Confirm>
  );
}
