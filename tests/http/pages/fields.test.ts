import { expect, test } from "bun:test";
import * as v from "valibot";
import { ApiTokenInput } from "../../../src/auth/schema.ts";
import { connectionInput } from "../../../src/connections/schema.ts";
import { CredentialInput, credentialKinds, secretSchemas } from "../../../src/credentials/schema.ts";
import { ExecutorInput } from "../../../src/executors/settings-schema.ts";
import { fields } from "../../../src/forms/fields.ts";
import { NotifierInput } from "../../../src/notifications/schema.ts";
import { ProviderInput } from "../../../src/oidc/schema.ts";
import { runtimes } from "../../../src/runtimes/index.ts";
import { Settings } from "../../../src/settings/schema.ts";
import { sourceKinds } from "../../../src/sources/source.ts";
import { ImportInput } from "../../../src/trackers/import/schema.ts";
import { TrackerInput } from "../../../src/trackers/schema.ts";
import { fieldWords, untranslatedFields } from "../../../templates/texts/fields.ts";

interface FormCase {
  area: string;
  schema: v.GenericSchema;
  values?: Readonly<Record<string, unknown>>;
}

/** Every form of the interface with each of its variants; a new form is a new line here. */
const forms: readonly FormCase[] = [
  ...credentialKinds.map((kind) => ({ area: "credentials", schema: CredentialInput, values: { kind } })),
  ...Object.keys(runtimes).map((kind) => ({
    area: "connections",
    schema: connectionInput(runtimes),
    values: { kind },
  })),
  ...Object.keys(runtimes).map((kind) => ({
    area: "connections",
    schema: v.object({ secret: v.pipe(secretSchemas[kind as keyof typeof runtimes], v.title("Secret")) }),
  })),
  ...["auto", "native", "http", "tcp", "disabled"].map((strategy) => ({
    area: "executors",
    schema: ExecutorInput,
    values: { trigger: "window", window: {}, bindings: [{}], health_check: { strategy } },
  })),
  ...sourceKinds.map((kind) => ({
    area: "trackers",
    schema: TrackerInput,
    values: {
      sources: [{ kind, channels: [{}] }],
      release_notes: { source: "changelog", ref: "specific", extraction: "subheading" },
    },
  })),
  { area: "imports", schema: ImportInput },
  { area: "notifiers", schema: NotifierInput },
  { area: "settings", schema: Settings },
  { area: "api_tokens", schema: ApiTokenInput },
  { area: "oidc_providers", schema: ProviderInput, values: { is_discovery_enabled: false } },
];

test.each(forms.map((form) => [`${form.area} ${JSON.stringify(form.values ?? {})}`, form] as const))(
  "%s has Chinese words for every field",
  (_, { area, schema, values }) => {
    expect(untranslatedFields(area, fields(schema, values ?? {}))).toEqual([]);
  },
);

test("the help of an engine's user name is not shown for a registry's", () => {
  const helpOf = (kind: string) => {
    const secret = fields(CredentialInput, { kind }).find(({ name }) => name === "secret");
    const username = secret?.children.find(({ name }) => name === "username");
    return username === undefined ? null : fieldWords("zh", "credentials", username).description;
  };
  expect(helpOf("docker")).toContain("不用于登录引擎");
  expect(helpOf("oci")).toBe("");
});

test("fields that are refused blank are not called optional", () => {
  const release_notes = { source: "changelog", ref: "specific", extraction: "subheading" };
  const notes = fields(TrackerInput, { release_notes }).find(({ name }) => name === "release_notes")?.children ?? [];
  const provider = fields(ProviderInput, { is_discovery_enabled: "false" });
  const required = [...notes, ...provider].filter(({ is_required }) => is_required).map(({ name }) => name);
  for (const name of ["specific_ref", "subheading", "authorization_url", "token_url", "jwks_url"])
    expect(required).toContain(name);
  for (const name of ["heading_template", "userinfo_url"]) expect(required).not.toContain(name);
});
