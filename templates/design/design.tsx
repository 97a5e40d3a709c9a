import type { Child } from "hono/jsx";
import type { FieldDescription } from "../../src/forms/fields.ts";
import { Tabs } from "../components/navigation.tsx";
import { PageHeader } from "../components/page-header.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { ControlSamples } from "./controls.tsx";
import { FormSample } from "./forms.tsx";
import { ListSamples } from "./lists.tsx";
import { MessageSamples } from "./messages.tsx";
import { ProgressSamples } from "./progress.tsx";
import { StateSamples } from "./states.tsx";

export const designParts = [
  "states",
  "controls",
  "form",
  "form_filled",
  "form_refused",
  "messages",
  "lists",
  "progress",
] as const;
export type DesignPart = (typeof designParts)[number];

interface DesignPageProps {
  ctx: PageContext;
  part: DesignPart;
  /** The fields of the sample form, for its values. */
  describe: (values: Readonly<Record<string, unknown>>) => readonly FieldDescription[];
}

/** Every component in every state: for whoever changes one, and for the visual tests. */
export function DesignPage({ ctx, part, describe }: DesignPageProps) {
  const t = texts(ctx).design;
  const samples: Readonly<Record<DesignPart, () => Child>> = {
    states: () => <StateSamples ctx={ctx} />,
    controls: () => <ControlSamples ctx={ctx} />,
    form: () => <FormSample ctx={ctx} describe={describe} />,
    form_filled: () => <FormSample ctx={ctx} describe={describe} is_filled />,
    form_refused: () => <FormSample ctx={ctx} describe={describe} is_filled is_refused />,
    messages: () => <MessageSamples ctx={ctx} />,
    lists: () => <ListSamples ctx={ctx} />,
    progress: () => <ProgressSamples ctx={ctx} />,
  };
  return (
    <Layout ctx={ctx} title={t.title} section="settings">
      <PageHeader ctx={ctx} title={t.title} lead={t.lead} />
      <Tabs
        ctx={ctx}
        label={t.title}
        items={designParts.map((each) => ({
          title: t.parts[each],
          href: `/design?part=${each}`,
          current: each === part,
        }))}
      />
      {samples[part]()}
    </Layout>
  );
}
