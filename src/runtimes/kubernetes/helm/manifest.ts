import { type Document, parseAllDocuments } from "yaml";
import { PluginError } from "../../../errors.ts";
import { say } from "../../../messages/message.ts";
import { mask } from "../../engine/hide-secrets.ts";
import { isObject, objectAt, type RawObject, stringAt } from "../../engine/raw.ts";
import { isSecretName, isSecretText, passwordsIn } from "../../engine/secret-form.ts";
import type { FieldDiff } from "../../plan.ts";
import type { TargetRef } from "../../target.ts";
import { idOf, rules, type WorkloadKind, workloadKinds } from "../workloads.ts";
import type { Release } from "./storage.ts";

/** One object of a rendered chart. */
interface Rendered {
  kind: string;
  namespace: string;
  name: string;
  content: RawObject;
}

const maxValue = 200;
/** Parsing blocks everything else, for about a second per million on a small machine; charts with many definitions have three or four. */
const maxCharacters = 8 * 1024 * 1024;
/** Shown of a plan; more than people read. */
export const maxDiffs = 300;

/** `namespace`: the release's, for objects that name none. Throws `malformed` for text that is not YAML, or too long. */
export function readManifest(text: string, namespace: string): readonly Rendered[] {
  if (text.length > maxCharacters) throw new PluginError("malformed", say("kubernetes.manifest_too_large"));
  const documents = parseAllDocuments(text, { prettyErrors: false, uniqueKeys: false });
  return documents
    .flatMap((document) => objectsIn(contentOf(document)))
    .map((content) => {
      const metadata = objectAt(content.metadata);
      const own = stringAt(metadata.namespace);
      return {
        kind: stringAt(content.kind),
        namespace: own === "" ? namespace : own,
        name: stringAt(metadata.name),
        content,
      };
    });
}

/** The members of a `List`, or of a `SecretList`, whose members need not repeat their kind, are objects like any other. */
function objectsIn(content: unknown): readonly RawObject[] {
  if (!isObject(content)) return [];
  const { apiVersion, items } = content;
  const kind = stringAt(content.kind);
  if (!kind.endsWith("List") || !Array.isArray(items)) return [content];
  return items.flatMap((item) => (isObject(item) ? objectsIn({ apiVersion, kind: kind.slice(0, -4), ...item }) : []));
}

function contentOf(document: Document): unknown {
  const [broken] = document.errors;
  try {
    if (broken !== undefined) throw broken;
    return document.toJS({ maxAliasCount: 1000 });
  } catch (cause) {
    throw new PluginError("malformed", say("kubernetes.manifest_unreadable"), { cause });
  }
}

/** The workloads of a release, whose rollout can be followed. Throws `malformed`. */
export function workloadsOf({ manifest }: Pick<Release, "manifest">, namespace: string): readonly TargetRef[] {
  return workloadsIn(readManifest(manifest, namespace));
}

/** The objects whose rollout can be followed. */
export function workloadsIn(objects: readonly Rendered[]): readonly TargetRef[] {
  return objects.flatMap((each) => {
    const kind = each.kind.toLowerCase();
    const [group] = stringAt(each.content.apiVersion).split("/");
    // Other groups have a StatefulSet, too.
    return isWorkloadKind(kind) && group === rules[kind].group ? [{ kind, id: idOf(each) }] : [];
  });
}

/** Those whose pods are only replaced when somebody deletes them. */
export function onDeleteIn(objects: readonly Rendered[]): readonly TargetRef[] {
  return workloadsIn(
    objects.filter(({ content }) => {
      return stringAt(objectAt(objectAt(content.spec).updateStrategy).type) === "OnDelete";
    }),
  );
}

function isWorkloadKind(kind: string): kind is WorkloadKind {
  return workloadKinds.some((each) => each === kind);
}

/** What differs, object by object and field by field, with the values of secrets masked. */
export function manifestDiffs(before: readonly Rendered[], after: readonly Rendered[]): readonly FieldDiff[] {
  const keyOf = ({ kind, namespace, name }: Rendered) => `${kind} ${namespace}/${name}`;
  const old = new Map(before.map((each) => [keyOf(each), each]));
  const now = new Map(after.map((each) => [keyOf(each), each]));
  const keys = [...new Set([...old.keys(), ...now.keys()])].toSorted();
  return keys.flatMap((key) => {
    const [was, is] = [old.get(key), now.get(key)];
    if (was === undefined) return [fieldDiff(key, null, summaryOf(is))];
    if (is === undefined) return [fieldDiff(key, summaryOf(was), null)];
    return valueDiffs(was.content, is.content, was.kind === "Secret").map(([path, from, to]) =>
      fieldDiff(`${key}: ${path}`, from, to),
    );
  });
}

/** What differs in values: the chart's defaults, or what was set for the release. */
export function valuesDiffs(before: RawObject, after: RawObject): readonly FieldDiff[] {
  return valueDiffs(before, after, false).map(([path, from, to]) => fieldDiff(`values.${path}`, from, to));
}

/** What the Secrets of a release hold, and what other objects give to members with a secret name. */
export function secretsIn(objects: readonly Rendered[]): readonly string[] {
  return objects.flatMap(({ kind, content }) => {
    if (kind !== "Secret") return secretValues(content);
    const packed = Object.values(objectAt(content.data)).map((each) =>
      Buffer.from(stringAt(each), "base64").toString("utf8"),
    );
    return [...packed, ...Object.values(objectAt(content.stringData)).map(stringAt)];
  });
}

/** Values under a secret name, and the passwords of addresses in all others. */
export function secretValues(values: RawObject): readonly string[] {
  const all = new Map<string, string>();
  flatten(values, "", all);
  return [...all].flatMap(([path, value]) => [...(isSecretPath(path) ? [value] : []), ...passwordsIn(value)]);
}

/** What the containers of a release may know and nobody may see. Throws `malformed`. */
export function secretsOf(release: Release, namespace: string): readonly string[] {
  return [...secretsSet(release), ...secretsIn(readManifest(release.manifest, namespace))];
}

/** What its values keep secret. */
export function secretsSet({ config, chart }: Pick<Release, "config" | "chart">): readonly string[] {
  return [...secretValues(config), ...secretValues(chart.values)];
}

function fieldDiff(path: string, before: string | null, after: string | null): FieldDiff {
  return { service: "main", path, before, after, because: "chart" };
}

function summaryOf(object: Rendered | undefined): string {
  return stringAt(object?.content.apiVersion);
}

type Changed = readonly [path: string, before: string | null, after: string | null];

function valueDiffs(before: RawObject, after: RawObject, isSecret: boolean): readonly Changed[] {
  const [old, now] = [new Map<string, string>(), new Map<string, string>()];
  flatten(before, "", old);
  flatten(after, "", now);
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((path) => {
    const [from = null, to = null] = [old.get(path), now.get(path)];
    if (from === to) return [];
    const isHidden = (isSecret && /^(?:data|stringData)\b/.test(path)) || isSecretPath(path);
    const shown = (text: string | null) =>
      text === null ? null : isHidden || isSecretText(text) ? mask : text.slice(0, maxValue);
    return [[path, shown(from), shown(to)]];
  });
}

/** `env[DB_PASSWORD].value`, `auth.password`: whether a name on the way says so. References to a Secret are not secret. */
function isSecretPath(path: string): boolean {
  if (/secret(?:Key)?Ref|secretName|imagePullSecrets|KeyRef\b/i.test(path)) return false;
  const [last = "", before = ""] = (path.match(/[^.[\]]+/g) ?? []).toReversed();
  return isSecretName(last) || (last === "value" && isSecretName(before));
}

/** Members of lists by their name, if all have one: an inserted container is not a change of all that follow. */
function flatten(value: unknown, path: string, into: Map<string, string>): void {
  if (Array.isArray(value)) {
    const names = value.map((each) => (isObject(each) ? stringAt(each.name) : ""));
    const isNamed = names.length > 0 && !names.includes("") && new Set(names).size === names.length;
    for (const [at, each] of value.entries()) flatten(each, `${path}[${isNamed ? names[at] : at}]`, into);
    if (value.length === 0) into.set(path, "[]");
  } else if (isObject(value)) {
    const members = Object.entries(value);
    for (const [key, each] of members) flatten(each, path === "" ? key : `${path}.${key}`, into);
    if (members.length === 0 && path !== "") into.set(path, "{}");
  } else into.set(path, String(value));
}
