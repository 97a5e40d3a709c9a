import type { ExecutorView } from "../../src/executors/schema.ts";
import type { SnapshotView } from "../../src/runs/schema.ts";
import { ActionForm, LinkButton } from "../components/button.tsx";
import { isEmpty, ListBody, type ListProps } from "../components/list-page.tsx";
import { Menu } from "../components/menu.tsx";
import { Panel, Section } from "../components/page-header.tsx";
import { Badge } from "../components/state.tsx";
import type { Column } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { Reference } from "../components/version.tsx";
import { formatBytes } from "../format.ts";
import type { PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

interface SnapshotsProps {
  ctx: PageContext;
  executor: ExecutorView;
  snapshots: ListProps<SnapshotView>;
}

/** The configurations that runs saved, each with its restore action; also the response to "Lock". */
export function Snapshots({ ctx, executor, snapshots }: SnapshotsProps) {
  const t = texts(ctx).executors;
  const { saved_as_data: savedAs } = executor.target;
  const title = savedAs === undefined ? t.snapshots : translateMessage(ctx.language, savedAs);
  return (
    <Section id="snapshots" title={title} aside={t.snapshots_lead}>
      {isEmpty(snapshots) ? (
        <Panel>
          <p class="quiet">{t.no_snapshots}</p>
        </Panel>
      ) : (
        <ListBody
          {...snapshots}
          id="snapshot-list"
          is_section
          caption={title}
          filters={[{ name: "lock", title: t.lock, options: Object.entries(t.locks) }]}
          table={snapshotTable(executor, snapshots)}
        />
      )}
    </Section>
  );
}

function snapshotTable(executor: ExecutorView, { ctx, items }: ListProps<SnapshotView>) {
  const t = texts(ctx).executors;
  return {
    columns: [
      {
        key: "image",
        title: executor.target.artifact === "chart" ? texts(ctx).common.version : texts(ctx).common.image,
        grows: true,
        sort: "reference",
      },
      ...(items.some(({ is_locked }) => is_locked)
        ? [{ key: "lock", title: t.locked, card_label: "none" as const }]
        : []),
      { key: "taken", title: t.snapshot_taken, align: "end", leads: true, sort: "-time" },
      { key: "size", title: texts(ctx).common.size, align: "end", wide_only: true, sort: "-size" },
    ] satisfies Column[],
    rows: items.map((snapshot) => ({
      id: `snapshot-${snapshot.id}`,
      href: `/executors/${executor.id}/snapshots/${snapshot.id}`,
      cells: {
        image: (
          <>
            <Reference>{snapshot.reference}</Reference>{" "}
            {snapshot.image_ids.length > 1 ? <span class="quiet">+{snapshot.image_ids.length - 1}</span> : null}
          </>
        ),
        lock: snapshot.is_locked ? <Badge icon="lock">{t.locked}</Badge> : null,
        taken: <Time ctx={ctx} at={snapshot.created_at} />,
        size: formatBytes(ctx.language, snapshot.size_bytes),
      },
      actions: <SnapshotActions ctx={ctx} executor={executor} snapshot={snapshot} />,
    })),
  };
}

interface SnapshotActionsProps extends Omit<SnapshotsProps, "snapshots"> {
  snapshot: SnapshotView;
}

function SnapshotActions({ ctx, executor, snapshot }: SnapshotActionsProps) {
  const t = texts(ctx).executors;
  const path = `/executors/${executor.id}/snapshots/${snapshot.id}`;
  return (
    <>
      <LinkButton ctx={ctx} href={`${path}/restore`} kind="bare" small icon="undo-2" label={t.restore} opens_dialog>
        {t.restore}
      </LinkButton>
      <Menu
        id={`actions-${snapshot.id}`}
        label={t.acts.menu_of(snapshot.reference)}
        small
        items={
          <>
            {executor.target.is_declarative ? null : (
              <LinkButton ctx={ctx} kind="entry" href={`${path}/export`} icon="arrow-down-to-line" opens_dialog>
                {texts(ctx).snapshots.export}
              </LinkButton>
            )}
            <ActionForm
              ctx={ctx}
              kind="entry"
              action={`${path}/lock`}
              fields={{ locked: snapshot.is_locked ? "no" : "yes", next: ctx.path }}
              target="#snapshots"
              icon={snapshot.is_locked ? "key-round" : "lock"}
            >
              {snapshot.is_locked ? t.unlock : t.lock}
            </ActionForm>
            {snapshot.is_locked ? null : (
              <LinkButton ctx={ctx} kind="entry" href={`${path}/delete`} icon="trash" opens_dialog>
                {t.snapshot_delete}
              </LinkButton>
            )}
          </>
        }
      />
    </>
  );
}
