import type { FieldErrors } from "../../src/errors.ts";
import type { FieldDescription } from "../../src/forms/fields.ts";
import { plain } from "../../src/messages/message.ts";
import { Form } from "../components/form.tsx";
import { Section } from "../components/page-header.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

type Values = Readonly<Record<string, unknown>>;

const filled: Values = {
  name: "traefik",
  sources: [{ kind: "oci", image: "library/traefik", channels: [{ type: "stable", include: "^3\\." }] }],
};

interface FormSamplesProps {
  ctx: PageContext;
  describe: (values: Values) => readonly FieldDescription[];
}

/** The tracker's form, which has every kind of field. What is sent comes back to this page. */
export function FormSamples({ ctx, describe }: FormSamplesProps) {
  const t = texts(ctx).design;
  const refused: FieldErrors = { name: plain(t.not_saved) };
  const samples = [
    { id: "empty", title: t.empty_form, values: {}, errors: {} },
    { id: "filled", title: t.filled_form, values: filled, errors: {} },
    { id: "refused", title: t.refused_form, values: filled, errors: refused },
  ];
  return samples.map(({ id, title, values, errors }) => (
    <Section title={title}>
      <Form
        ctx={ctx}
        id={`design-${id}`}
        area="trackers"
        action="/design/form"
        fields={describe(values)}
        values={values}
        errors={errors}
        submit={t.save}
        cancel_href="/design?part=forms"
        is_edit={id === "filled"}
      />
    </Section>
  ));
}
