import { Behind } from "../components/behind.tsx";
import { Button, SharedButton, SharedForm } from "../components/button.tsx";
import { ListBody } from "../components/list-page.tsx";
import { Section } from "../components/page-header.tsx";
import { RowFacts } from "../components/row-facts.tsx";
import { Row, Rows } from "../components/rows.tsx";
import { Badge, State } from "../components/state.tsx";
import { type Column, Orders, Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { FromTo, Version } from "../components/version.tsx";
import { type PageContext, type Tone, withQuery } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { behind, longName, tones } from "./states.tsx";

const hour = 3_600_000;
const here = "/design?part=lists";

/** The name of the row of a tone: one is too long. */
const nameOf = (tone: Tone) => (tone === "update" ? longName : tone);

export function ListSamples({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).design;
  return (
    <>
      <Section title={t.list}>
        <ListSample ctx={ctx} />
      </Section>
      <Section title={t.table}>
        <TableSample ctx={ctx} />
      </Section>
      <Section title={t.rows}>
        <Orders ctx={ctx} orders={[{ title: t.name, sort: "name" }]} sort="name" />
        <Rows>
          {tones.map((tone, index) => (
            <Row
              ctx={ctx}
              lead={<State ctx={ctx} tone={tone} />}
              title={nameOf(tone)}
              href={here}
              fact={<FromTo ctx={ctx} from="2.18.4" to="3.0.5" />}
              meta={[<Badge>stable</Badge>, <Time ctx={ctx} at={ctx.now - index * hour} />]}
              action={<Button small>{texts(ctx).common.retry}</Button>}
            />
          ))}
        </Rows>
      </Section>
    </>
  );
}

function columnsOf(ctx: PageContext): readonly Column[] {
  const t = texts(ctx).design;
  return [
    { key: "name", title: t.name, grows: true, sort: "name" },
    { key: "version", title: t.version, leads: true },
    { key: "state", title: t.state, card_label: "none", sort: "state" },
    { key: "checked", title: t.checked, align: "end", wide_only: true },
  ];
}

function rowOf(ctx: PageContext, tone: Tone, index: number) {
  return {
    href: here,
    muted: tone === "quiet",
    cells: {
      name: nameOf(tone),
      version: (
        <>
          <Version>{`3.6.${24 - index}`}</Version> {tone === "update" ? <Behind ctx={ctx} behind={behind} /> : null}
        </>
      ),
      state: <State ctx={ctx} tone={tone} />,
      checked: <Time ctx={ctx} at={ctx.now - index * hour} />,
    },
  };
}

/** With filters, groups, actions in rows and on several, and pages. */
function ListSample({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).design;
  const { state: words } = texts(ctx).common;
  const actions = texts(ctx).bulk.actions;
  const rows = tones.map((tone, index) => ({
    ...rowOf(ctx, tone, index),
    id: `listed-${tone}`,
    choice: { value: tone, label: texts(ctx).selection.choose(nameOf(tone)) },
    group: index < 4 ? { key: "a", heading: "nas" } : { key: "b", heading: longName },
    actions: (
      <>
        <SharedButton
          ctx={ctx}
          action="/design/checks"
          kind="bare"
          small
          icon="refresh-cw"
          label={texts(ctx).trackers.check_of(nameOf(tone))}
        />
        <RowFacts ctx={ctx} of={nameOf(tone)} items={[[t.checked, <Time ctx={ctx} at={ctx.now - index * hour} />]]} />
      </>
    ),
  }));
  return (
    <ListBody
      ctx={{ ...ctx, path: withQuery(ctx.path, { part: "lists" }) }}
      id="design-list"
      caption={t.list}
      items={rows}
      is_first_page
      next_cursor="next"
      asked={{ q: "", sort: "name", filters: {} }}
      counts={{ state: { "": tones.length, update: 1, failed: 1 } }}
      filters={[
        {
          name: "state",
          title: t.state,
          options: [
            ["update", words.update],
            ["failed", words.failed],
          ],
        },
      ]}
      selection={{
        form: "design-selection",
        action: "/design/selection",
        buttons: [
          { name: "update", word: actions.update, icon: "play" },
          { name: "hold", word: actions.hold, icon: "pause" },
        ],
        more: [{ name: "delete", word: actions.delete, icon: "trash" }],
        matching: 300,
      }}
      table={{ columns: columnsOf(ctx), rows }}
    >
      <SharedForm ctx={ctx} target={undefined} />
    </ListBody>
  );
}

/** Cards in a narrow container. */
function TableSample({ ctx }: { ctx: PageContext }) {
  const rows = tones.map((tone, index) => ({
    ...rowOf(ctx, tone, index),
    id: `sample-${tone}`,
    actions: (
      <Button small icon="rotate-ccw">
        {texts(ctx).common.retry}
      </Button>
    ),
  }));
  return <Table ctx={ctx} caption={texts(ctx).design.table} columns={columnsOf(ctx)} rows={rows} />;
}
