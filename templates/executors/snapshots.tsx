import type { ExecutorView } from "../../src/executors/schema.ts";
import type { SnapshotView } from "../../src/runs/schema.ts";
import { ActionForm, LinkButton } from "../components/button.tsx";
import { Confirm } from "../components/dialog.tsx";
import { Facts } from "../components/facts.tsx";
import { Panel, Section } from "../components/page-header.tsx";
import { Badge } from "../components/state.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { Digest } from "../components/version.tsx";
import { formatBytes } from "../format.ts";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

interface SnapshotsProps {
  ctx: PageContext;
  executor: ExecutorView;
  snapshots: readonly SnapshotView[];
}

/** The configurations that runs saved, each with the way back to it; also the answer to "Lock". */
export function Snapshots({ ctx, executor, snapshots }: SnapshotsProps) {
  const t = texts(ctx).executors;
  return (
    <Section id="snapshots" title={t.snapshots} aside={t.snapshots_lead}>
      {snapshots.length === 0 ? (
        <Panel>
          <p class="quiet">{t.no_snapshots}</p>
        </Panel>
      ) : (
        <Table
          ctx={ctx}
          caption={t.snapshots}
          columns={[
            { key: "image", title: t.snapshot_of, grows: true },
            { key: "taken", title: t.snapshot_taken, align: "end" },
            { key: "size", title: t.snapshot_size, align: "end", wide_only: true },
          ]}
          rows={snapshots.map((snapshot) => ({
            id: `snapshot-${snapshot.id}`,
            cells: {
              image: (
                <div>
                  <span class="version">{snapshot.reference}</span>{" "}
                  {snapshot.is_locked ? <Badge icon="lock">{t.locked}</Badge> : null}
                </div>
              ),
              taken: <Time ctx={ctx} at={snapshot.created_at} />,
              size: formatBytes(ctx.language, snapshot.size_bytes),
            },
            actions: <SnapshotActions ctx={ctx} executor={executor} snapshot={snapshot} />,
          }))}
        />
      )}
    </Section>
  );
}

function SnapshotActions({ ctx, executor, snapshot }: Omit<SnapshotsProps, "snapshots"> & { snapshot: SnapshotView }) {
  const t = texts(ctx).executors;
  const path = `/executors/${executor.id}/snapshots/${snapshot.id}`;
  return (
    <>
      <LinkButton ctx={ctx} href={`${path}/restore`} small icon="undo-2" opens_dialog>
        {t.restore}
      </LinkButton>
      <ActionForm
        ctx={ctx}
        action={`${path}/lock`}
        fields={{ locked: snapshot.is_locked ? "no" : "yes" }}
        target="#snapshots"
        kind="bare"
        small
        icon={snapshot.is_locked ? "key-round" : "lock"}
        label={snapshot.is_locked ? t.unlock : t.lock}
      />
      {snapshot.is_locked ? null : (
        <LinkButton
          ctx={ctx}
          href={`${path}/delete`}
          small
          kind="bare"
          icon="trash"
          label={t.snapshot_delete}
          opens_dialog
        />
      )}
    </>
  );
}

interface SnapshotQuestionProps {
  ctx: PageContext;
  executor: ExecutorView;
  snapshot: SnapshotView;
  error?: string | undefined;
}

function SnapshotFacts({ ctx, executor, snapshot }: SnapshotQuestionProps) {
  const t = texts(ctx).executors;
  const [service] = executor.services;
  return (
    <Facts
      wide
      items={[
        service?.found === undefined || service.found === null
          ? null
          : [t.plan_now, <span class="version">{service.found.image}</span>],
        [t.snapshot, <b class="version">{snapshot.reference}</b>],
        snapshot.digest === null ? null : [t.digest, <Digest ctx={ctx} value={snapshot.digest} />],
        [t.snapshot_taken, <Time ctx={ctx} at={snapshot.created_at} form="short" />],
      ]}
    />
  );
}

/** What going back to a snapshot does, alone or as a page. */
export function SnapshotRestore(props: SnapshotQuestionProps) {
  const { ctx, executor, snapshot, error } = props;
  const t = texts(ctx).executors;
  return (
    <Confirm
      ctx={ctx}
      title={t.restore_title(executor.name)}
      verb={t.restore_verb}
      kind="main"
      action={`/executors/${executor.id}/snapshots/${snapshot.id}/restore`}
      cancel_href={`/executors/${executor.id}`}
      error={error === undefined ? undefined : translateMessage(ctx.language, error)}
    >
      <SnapshotFacts {...props} />
      <p>{t.restore_text}</p>
      <p>
        <b>{t.restore_data}</b>
      </p>
    </Confirm>
  );
}

export function SnapshotRestorePage(props: SnapshotQuestionProps) {
  return (
    <Layout ctx={props.ctx} title={texts(props.ctx).executors.restore_verb} section="executors">
      <SnapshotRestore {...props} />
    </Layout>
  );
}

export function SnapshotDelete(props: SnapshotQuestionProps) {
  const { ctx, executor, snapshot, error } = props;
  const t = texts(ctx).executors;
  return (
    <Confirm
      ctx={ctx}
      title={t.snapshot_delete_title}
      verb={t.snapshot_delete}
      kind="danger"
      action={`/executors/${executor.id}/snapshots/${snapshot.id}/delete`}
      cancel_href={`/executors/${executor.id}`}
      error={error === undefined ? undefined : translateMessage(ctx.language, error)}
    >
      <SnapshotFacts {...props} />
      <p>{t.snapshot_delete_text}</p>
    </Confirm>
  );
}

export function SnapshotDeletePage(props: SnapshotQuestionProps) {
  return (
    <Layout ctx={props.ctx} title={texts(props.ctx).executors.snapshot_delete} section="executors">
      <SnapshotDelete {...props} />
    </Layout>
  );
}
