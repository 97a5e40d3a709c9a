import type { ExecutorView } from "../../src/executors/schema.ts";
import type { SnapshotView } from "../../src/runs/schema.ts";
import { ActionForm, LinkButton } from "../components/button.tsx";
import { Panel, Section } from "../components/page-header.tsx";
import { Badge } from "../components/state.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { formatBytes } from "../format.ts";
import type { PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

interface SnapshotsProps {
  ctx: PageContext;
  executor: ExecutorView;
  snapshots: readonly SnapshotView[];
}

/** The configurations that runs saved, each with its restore action; also the response to "Lock". */
export function Snapshots({ ctx, executor, snapshots }: SnapshotsProps) {
  const t = texts(ctx).executors;
  const { saved_as_data: savedAs } = executor.target;
  const title = savedAs === undefined ? t.snapshots : translateMessage(ctx.language, savedAs);
  return (
    <Section id="snapshots" title={title} aside={t.snapshots_lead}>
      {snapshots.length === 0 ? (
        <Panel>
          <p class="quiet">{t.no_snapshots}</p>
        </Panel>
      ) : (
        <Table
          ctx={ctx}
          caption={title}
          columns={[
            {
              key: "image",
              title: executor.target.artifact === "chart" ? texts(ctx).common.version : texts(ctx).common.image,
              grows: true,
            },
            { key: "taken", title: t.snapshot_taken, align: "end" },
            { key: "size", title: texts(ctx).common.size, align: "end", wide_only: true },
          ]}
          rows={snapshots.map((snapshot) => ({
            id: `snapshot-${snapshot.id}`,
            href: `/executors/${executor.id}/snapshots/${snapshot.id}`,
            cells: {
              image: (
                <>
                  <span class="version">{snapshot.reference}</span>{" "}
                  {snapshot.image_ids.length > 1 ? <span class="quiet">+{snapshot.image_ids.length - 1} </span> : null}
                  {snapshot.is_locked ? <Badge icon="lock">{t.locked}</Badge> : null}
                </>
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
      {executor.target.is_declarative ? null : (
        <LinkButton
          ctx={ctx}
          href={`${path}/export`}
          small
          kind="bare"
          icon="arrow-down-to-line"
          label={texts(ctx).snapshots.export}
          opens_dialog
        />
      )}
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
