import { type Lacking, neededRights, type Right } from "./rights.ts";

const group = "rbac.authorization.k8s.io";
const name = "tidemark";

interface Wanted {
  /** Where rights are lacking; none for the whole cluster. */
  namespaces: readonly string[];
  /** Whom the rights are for, as the API server names it; null if it does not say. */
  identity: string | null;
  lacking: readonly Lacking[];
  /** Whether Helm releases cannot be listed. */
  is_helm_lacking: boolean;
}

/**
 * What an administrator of the cluster applies to grant everything that Tidemark needs there: the whole role, because applying it replaces
 * one that exists, with a remark where something is missing.
 */
export function manifestOf({ namespaces, identity, lacking, is_helm_lacking }: Wanted): string {
  const rules = rulesOf(lacking, is_helm_lacking);
  const [only, ...others] = namespaces;
  const subject = subjectOf(identity);
  if (only !== undefined && others.length === 0) {
    return [roleOf("Role", rules, only), bindingOf("RoleBinding", "Role", subject, only)].join("---\n");
  }
  const bindings =
    only === undefined
      ? [bindingOf("ClusterRoleBinding", "ClusterRole", subject, null)]
      : namespaces.map((each) => bindingOf("RoleBinding", "ClusterRole", subject, each));
  return [roleOf("ClusterRole", rules, null), ...bindings].join("---\n");
}

/** As the documentation has it: of no namespace in particular, with nothing that is missing. */
export function documentedRole(): string {
  return roleOf("Role", rulesOf([], false), null);
}

function roleOf(kind: "Role" | "ClusterRole", rules: string, namespace: string | null): string {
  return `apiVersion: ${group}/v1
kind: ${kind}
metadata:
  name: ${name}
${within(namespace)}rules:
${rules}`;
}

function within(namespace: string | null): string {
  return namespace === null ? "" : `  namespace: ${text(namespace)}\n`;
}

/** The roleRef of a binding cannot be changed: one to a ClusterRole has another name than one to a Role. */
function bindingOf(kind: string, role: "Role" | "ClusterRole", subject: string, namespace: string | null): string {
  return `apiVersion: ${group}/v1
kind: ${kind}
metadata:
  name: ${namespace !== null && role === "ClusterRole" ? `${name}-cluster-role` : name}
${within(namespace)}roleRef:
  apiGroup: ${group}
  kind: ${role}
  name: ${name}
subjects:
${subject}`;
}

function subjectOf(identity: string | null): string {
  const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(identity ?? "") ?? [];
  if (namespace !== undefined && account !== undefined) return accountOf(namespace, account);
  if (identity === null) return `  # The account of Tidemark's credential.\n${accountOf(name, name)}`;
  return `  - apiGroup: ${group}\n    kind: User\n    name: ${text(identity)}\n`;
}

function accountOf(namespace: string, account: string): string {
  return `  - kind: ServiceAccount\n    name: ${text(account)}\n    namespace: ${text(namespace)}\n`;
}

/** Names come from the server and the form. JSON is YAML. */
function text(value: string): string {
  return /^[a-z][a-z0-9-]*$/.test(value) && !/^(true|false|null|yes|no|on|off|y|n)$/.test(value)
    ? value
    : JSON.stringify(value);
}

const releases = `  # Helm releases need these, too, and the rights to whatever their charts create.
  # - apiGroups: [""]
  #   resources: [secrets]
  #   verbs: [get, list, create, update, delete]
`;

/** Resources with the same verbs are one rule. */
function rulesOf(lacking: readonly Lacking[], isHelmLacking: boolean): string {
  const rules = Map.groupBy(neededRights, ({ group: of, verbs, is_needed }) => `${is_needed} ${of} ${verbs.join()}`);
  const needed = [...rules.values()].filter(([right]) => right?.is_needed === true);
  const others = [...rules.values()].filter(([right]) => right?.is_needed === false);
  const remark = "  # The rest explains failures and shows logs; leave it out if you prefer.\n";
  return [
    ...needed.map((rights) => ruleOf(rights, lacking)),
    ...(others.length === 0 ? [] : [remark, ...others.map((rights) => ruleOf(rights, lacking))]),
    ...(isHelmLacking ? [releases] : []),
  ].join("");
}

function ruleOf(rights: readonly Right[], lacking: readonly Lacking[]): string {
  const [first] = rights;
  if (first === undefined) return "";
  const resources = rights.map(({ resource }) => resource).join(", ");
  return `${missingIn(rights, lacking)}  - apiGroups: [${first.group === "" ? '""' : first.group}]
    resources: [${resources}]
    verbs: [${first.verbs.join(", ")}]
`;
}

function missingIn(rights: readonly Right[], lacking: readonly Lacking[]): string {
  const missing = rights.map(({ resource, verbs, ...right }) => {
    const found = lacking.filter((each) => each.right.resource === resource && each.right.group === right.group);
    return { resource, verbs: verbs.filter((verb) => found.some((each) => each.verbs.includes(verb))) };
  });
  const byVerbs = Map.groupBy(missing, ({ verbs }) => verbs.join(", "));
  byVerbs.delete("");
  const named = [...byVerbs].map(([verbs, of]) => `${verbs} ${of.map(({ resource }) => resource).join(", ")}`);
  return named.length === 0 ? "" : `  # Missing: ${named.join("; ")}\n`;
}
