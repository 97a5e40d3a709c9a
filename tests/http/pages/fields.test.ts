import { expect, test } from "bun:test";
import type { GenericSchema } from "valibot";
import { ApiTokenInput } from "../../../src/auth/schema.ts";
import { CredentialInput, credentialKinds } from "../../../src/credentials/schema.ts";
import { fields } from "../../../src/forms/fields.ts";
import { NotifierInput } from "../../../src/notifications/schema.ts";
import { Settings } from "../../../src/settings/schema.ts";
import { untranslatedFields } from "../../../templates/texts/fields.ts";

interface FormCase {
  area: string;
  schema: GenericSchema;
  values?: Readonly<Record<string, unknown>>;
}

/** Every form of the interface with each of its variants; a new form is a new line here. */
const forms: readonly FormCase[] = [
  ...credentialKinds.map((kind) => ({ area: "credentials", schema: CredentialInput, values: { kind } })),
  { area: "notifiers", schema: NotifierInput },
  { area: "settings", schema: Settings },
  { area: "api_tokens", schema: ApiTokenInput },
];

test.each(forms.map((form) => [`${form.area} ${JSON.stringify(form.values ?? {})}`, form] as const))(
  "%s has Chinese words for every field",
  (_, { area, schema, values }) => {
    expect(untranslatedFields(area, fields(schema, values ?? {}))).toEqual([]);
  },
);
