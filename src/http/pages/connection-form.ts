import type { ConnectionFormFacts } from "../../../templates/connections/form.tsx";
import { fieldWords } from "../../../templates/texts/fields.ts";
import { type ConnectionView, newCredential } from "../../connections/schema.ts";
import { CredentialInput, credentialKinds } from "../../credentials/schema.ts";
import { type FieldDescription, fields, valuesOf } from "../../forms/fields.ts";
import { type Language, languages } from "../../messages/languages.ts";
import type { Services } from "../../services.ts";
import { listAll } from "./read-list.ts";

type Values = Readonly<Record<string, unknown>>;
type Connections = Pick<Services, "connections">;

const text = (value: unknown) => (typeof value === "string" ? value : "");

/** What is said of a connection that a later version stored: its form has nothing of the address. */
export function unknownKind(stored: ConnectionView | null) {
  return stored?.warnings.filter(({ code }) => code === "kind_unknown") ?? [];
}

/** The fields of a connection's form: those of its schema, and those of the secret of a new credential. */
export function describeConnection(
  { connections }: Connections,
  values: Values,
  stored: ConnectionView | null,
): readonly FieldDescription[] {
  const kind = stored?.kind ?? text(values.kind);
  const needsSecret = connections.needsSecret(kind, values.config);
  const hasChoices = connections.hasChoices(kind);
  const described = fields(connections.Input, { ...values, kind });
  if (unknownKind(stored).length > 0) {
    return described.filter(({ name }) => !["kind", "config", "credential_id"].includes(name));
  }
  const credential = described
    .filter(({ name }) => name === "credential_id")
    .filter(() => needsSecret !== false)
    .map((field) => ({ ...field, is_discriminant: true, is_required: needsSecret === true }));
  const isNew = stored === null && values.credential_id === newCredential && credential.length > 0;
  const asked = isNew ? [...credential, ...secretFields(kind, hasChoices)] : credential;
  const config = described.filter(({ name }) => name === "config");
  const named = (...names: string[]) => names.flatMap((name) => described.filter((field) => field.name === name));
  const rest = described.filter(({ name }) => !["kind", "config", "credential_id", "name"].includes(name));
  return [
    ...named("kind"),
    ...(hasChoices ? [...asked, ...config] : [...config, ...asked]),
    ...named("name"),
    ...rest.map((field) => ({ ...field, is_advanced: true })),
  ];
}

/** The name of a connection without one: its kind in the reader's language, with a number if that is taken. */
export async function usualName({ connections }: Connections, language: Language, kind: unknown): Promise<string> {
  const title = kindTitles({ connections }, language, kind).get(text(kind)) ?? "";
  const taken = new Set((await listAll((page) => connections.list(page))).map(({ name }) => name.toLowerCase()));
  let name = title;
  for (let number = 2; taken.has(name.toLowerCase()); number += 1) name = `${title} ${number}`;
  return name;
}

/** Whether nobody entered this name: it is blank, or that of a kind that was chosen before. */
export function isUsualName(services: Connections, { name, kind }: Values): boolean {
  const given = text(name).trim();
  const usual = languages.flatMap((language) => [...kindTitles(services, language, kind).values()]);
  return given === "" || usual.includes(given.replace(/ \d+$/, ""));
}

function kindTitles({ connections }: Connections, language: Language, kind: unknown): ReadonlyMap<string, string> {
  const described = fields(connections.Input, { kind }).filter(({ name }) => name === "kind");
  const options = described.flatMap((field) => fieldWords(language, "connections", field).options);
  return new Map(options.map(({ value, title }) => [value, title]));
}

/** `isFolded`: all but the first, of several that serve alike. */
function secretFields(kind: string, isFolded: boolean): readonly FieldDescription[] {
  const secrets = fields(CredentialInput, { kind }).filter(({ name }) => name === "secret");
  return secrets.map((secret) => ({
    ...secret,
    children: secret.children.map((field, index) => ({ ...field, is_advanced: isFolded && index > 0 })),
  }));
}

/** The form for these values, in which a credential that does not fit the kind gives way to the usual choice. */
export async function drawConnectionForm(
  services: Services,
  given: Values,
  stored: ConnectionView | null,
): Promise<ConnectionFormFacts> {
  const { connections, credentials } = services;
  const kind = stored?.kind ?? text(given.kind);
  const hasCredentials = credentialKinds.some((known) => known === kind);
  const items = hasCredentials ? await listAll((page) => credentials.list({ kind, ...page })) : [];
  const needsSecret = connections.needsSecret(kind, given.config);
  const chosen = text(given.credential_id);
  const isKnown = (chosen === newCredential && stored === null) || items.some(({ id }) => id === chosen);
  const credential_id = isKnown ? chosen : needsSecret === true && stored === null ? newCredential : "";
  const offered = await offeredBy(services, kind, { ...given, credential_id });
  return {
    ...offered,
    fields: describeConnection(services, offered.values, stored),
    credentials: items.map(({ id, name }) => ({ value: id, title: name })),
    needs_secret: needsSecret === true,
    warnings: [...unknownKind(stored), ...connections.warningsOf(kind, given.config)],
  };
}

/** Of a new secret the usual value is chosen already; with a stored credential a blank stays blank. */
async function offeredBy(
  { connections }: Connections,
  kind: string,
  values: Values,
): Promise<Pick<ConnectionFormFacts, "values" | "choices" | "problem">> {
  const id = text(values.credential_id);
  const secret = valuesOf(values.secret);
  if (id !== newCredential) {
    return { values, choices: id === "" ? {} : await connections.choicesOf(kind, id), problem: null };
  }
  if (Object.keys(secret).length === 0) return { values, choices: {}, problem: null };
  const config = valuesOf(values.config);
  const { choices, problem } = await connections.judgeSecret(kind, config, secret);
  const chosen = Object.entries(choices).map(([field, { options, current }]) => {
    const isKnown = options.some(({ value }) => value === config[field]);
    return [field, isKnown ? config[field] : current] as const;
  });
  return {
    values: { ...values, config: { ...config, ...Object.fromEntries(chosen) } },
    choices,
    problem: problem?.field?.startsWith("secret.") === true ? { path: problem.field, message: problem.said } : null,
  };
}
