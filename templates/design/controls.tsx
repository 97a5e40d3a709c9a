import { Button, LinkButton } from "../components/button.tsx";
import { Code, Key, OwnCommand } from "../components/code.tsx";
import { Menu } from "../components/menu.tsx";
import { Filters, Pagination, Tabs } from "../components/navigation.tsx";
import { EditAndDelete, Panel, Section } from "../components/page-header.tsx";
import { Revealed } from "../components/reveal.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { questions } from "./questions.tsx";

const kinds = ["main", "plain", "bare", "danger"] as const;

export function ControlSamples({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).design;
  const common = texts(ctx).common;
  const here = "/design?part=controls";
  return (
    <>
      <Section title={t.buttons}>
        <Panel>
          <div class="samples">
            {kinds.map((kind) => (
              <Button kind={kind} icon={kind === "danger" ? "trash" : "plus"}>
                {kind === "danger" ? t.verb : t.add}
              </Button>
            ))}
          </div>
          <div class="samples">
            {kinds.map((kind) => (
              <Button kind={kind} small>
                {kind === "danger" ? t.verb : t.small}
              </Button>
            ))}
          </div>
          <div class="samples">
            <Button icon="rotate-ccw" label={common.retry} />
            <Button kind="bare" icon="trash" label={t.verb} />
            <Button kind="bare" small icon="x" label={common.dismiss} />
          </div>
        </Panel>
      </Section>
      <Section title={t.questions}>
        <Panel>
          <div class="samples">
            {questions.map((name) => (
              <LinkButton ctx={ctx} href={`/design/question?name=${name}`} opens_dialog>
                {t.open[name]}
              </LinkButton>
            ))}
          </div>
        </Panel>
      </Section>
      <Section title={t.secret}>
        <Panel>
          <Revealed ctx={ctx} described_by="design-secret">
            <input class="input" id="design-secret" type="password" autocomplete="off" aria-label={t.secret} />
          </Revealed>
        </Panel>
      </Section>
      <Section title={t.menu}>
        <Panel>
          <div class="samples">
            <Menu
              label={t.menu}
              items={
                <>
                  <Button kind="entry" icon="pause">
                    {texts(ctx).bulk.actions.hold}
                  </Button>
                  <Button kind="entry" icon="trash">
                    {t.verb}
                  </Button>
                </>
              }
            />
            <EditAndDelete ctx={ctx} path="/design" />
          </div>
        </Panel>
      </Section>
      <Section title={t.tabs}>
        <Tabs
          ctx={ctx}
          label={t.tabs}
          items={[
            { title: common.all, href: here, current: true },
            { title: t.versions, href: here, current: false },
          ]}
        />
      </Section>
      <Section title={t.filters}>
        <Filters
          ctx={ctx}
          search={{ name: "search", value: "", label: t.name }}
          groups={[
            {
              name: "state",
              title: t.state,
              current: null,
              options: [
                { title: common.state.update, value: "update" },
                { title: common.state.failed, value: "failed" },
              ],
            },
          ]}
        />
        <Pagination ctx={ctx} newer="" older="next" />
      </Section>
      <Section title={t.code}>
        <div class="stack">
          <Code ctx={ctx} text="docker compose up -d" />
          <Code ctx={ctx} text={`https://tidemark.example.org/approve/${"0123456789abcdef".repeat(6)}`} wraps />
          <p>
            <Key>Ctrl</Key> <Key>K</Key>
          </p>
          <OwnCommand ctx={ctx} text="bun run reset-password" compose="exec" />
        </div>
      </Section>
    </>
  );
}
