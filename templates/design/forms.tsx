import type * as v from "valibot";
import type { FieldDescription } from "../../src/forms/fields.ts";
import { plain } from "../../src/messages/message.ts";
import type { TrackerInput } from "../../src/trackers/schema.ts";
import { Form } from "../components/form.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

type Values = Readonly<Record<string, unknown>>;

const channel = { type: "stable", include_pattern: "^3\\." } as const;
const filled = {
  name: "traefik",
  is_enabled: true,
  sources: [{ key: "main", kind: "oci", config: { image: "library/traefik" }, channels: [channel] }],
} satisfies v.InferInput<typeof TrackerInput>;

interface FormSampleProps {
  ctx: PageContext;
  describe: (values: Values) => readonly FieldDescription[];
  is_filled?: boolean;
  is_refused?: boolean;
}

/** The tracker's form, which has every kind of field. What is sent comes back to this page. */
export function FormSample({ ctx, describe, is_filled = false, is_refused = false }: FormSampleProps) {
  const t = texts(ctx).design;
  const values = is_filled ? filled : {};
  return (
    <Form
      ctx={ctx}
      id="design-form"
      area="trackers"
      action="/design/form"
      fields={describe(values)}
      values={values}
      errors={is_refused ? { name: plain(t.not_saved) } : {}}
      submit={t.save}
      cancel_href="/design?part=form"
      is_edit={is_filled && !is_refused}
    />
  );
}
