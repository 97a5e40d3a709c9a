import { Button } from "../components/button.tsx";
import { Section } from "../components/page-header.tsx";
import { Row, Rows } from "../components/rows.tsx";
import { Badge, State } from "../components/state.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { FromTo, Version } from "../components/version.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { longName, tones } from "./states.tsx";

const hour = 3_600_000;

export function ListSamples({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).design;
  return (
    <>
      <Section title={t.table}>
        <Table
          ctx={ctx}
          caption={t.table}
          columns={[
            { key: "name", title: t.name, grows: true },
            { key: "version", title: t.version },
            { key: "state", title: t.state, card_label: "none" },
            { key: "checked", title: t.checked, align: "end" },
          ]}
          rows={tones.map((tone, index) => ({
            id: `sample-${tone}`,
            href: "/design?part=lists",
            muted: tone === "quiet",
            actions: (
              <Button small icon="rotate-ccw">
                {texts(ctx).common.retry}
              </Button>
            ),
            cells: {
              name: index === 1 ? longName : tone,
              version: <Version>{`3.6.${24 - index}`}</Version>,
              state: <State ctx={ctx} tone={tone} />,
              checked: <Time ctx={ctx} at={ctx.now - index * hour} />,
            },
          }))}
        />
      </Section>
      <Section title={t.rows}>
        <Rows>
          {tones.map((tone, index) => (
            <Row
              ctx={ctx}
              lead={<State ctx={ctx} tone={tone} />}
              title={index === 1 ? longName : "paperless"}
              href="/design?part=lists"
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
