import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { parseAllDocuments } from "yaml";
import { lackingAll, neededRights } from "../../../src/runtimes/kubernetes/rights.ts";
import { documentedRole, manifestOf } from "../../../src/runtimes/kubernetes/role.ts";

const Named = v.object({ name: v.string(), namespace: v.optional(v.string()) });
const Manifest = v.object({
  kind: v.string(),
  metadata: Named,
  rules: v.optional(
    v.array(v.object({ apiGroups: v.array(v.string()), resources: v.array(v.string()), verbs: v.array(v.string()) })),
    [],
  ),
  roleRef: v.optional(v.object({ kind: v.string(), name: v.string() })),
  subjects: v.optional(v.array(v.object({ kind: v.string(), ...Named.entries }))),
});
const read = (text: string) => parseAllDocuments(text).map((each) => v.parse(Manifest, each.toJS()));

/** `group/resource verb`, one for each right. */
const rightsIn = (
  rules: readonly { apiGroups: readonly string[]; resources: readonly string[]; verbs: readonly string[] }[],
) =>
  rules
    .flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => `${group}/${resource} ${verb}`)),
      ),
    )
    .toSorted();
const needed = rightsIn(
  neededRights.map(({ group, resource, verbs }) => ({ apiGroups: [group], resources: [resource], verbs })),
);

const account = "system:serviceaccount:tools:updater";
const base = { namespaces: ["shop"], identity: account, lacking: lackingAll, is_helm_lacking: false };

test("the documented role is the one that the test of a connection offers, with every right it asks for", () => {
  const page = readFileSync(join(import.meta.dir, "../../../docs/kubernetes.md"), "utf8");
  expect(page).toContain(`\`\`\`yaml\n${documentedRole()}\`\`\``);
  expect(rightsIn(read(documentedRole())[0]?.rules ?? [])).toEqual(needed);
});

test("of one namespace: a Role and its binding for the account that was asked about", () => {
  const [role, binding, ...others] = read(manifestOf(base));
  expect([role?.kind, role?.metadata]).toEqual(["Role", { name: "tidemark", namespace: "shop" }]);
  expect(rightsIn(role?.rules ?? [])).toEqual(needed);
  expect([binding?.kind, binding?.metadata.namespace, binding?.roleRef]).toEqual([
    "RoleBinding",
    "shop",
    { kind: "Role", name: "tidemark" },
  ]);
  expect(binding?.subjects).toEqual([{ kind: "ServiceAccount", name: "updater", namespace: "tools" }]);
  expect(others).toEqual([]);
});

test("of several namespaces: one ClusterRole, bound in each of them and nowhere else", () => {
  const [role, ...bindings] = read(manifestOf({ ...base, namespaces: ["shop", "blog"] }));
  expect([role?.kind, role?.metadata.namespace]).toEqual(["ClusterRole", undefined]);
  expect(bindings.map(({ kind, metadata }) => [kind, metadata.namespace])).toEqual([
    ["RoleBinding", "shop"],
    ["RoleBinding", "blog"],
  ]);
  expect(bindings.every(({ roleRef }) => roleRef?.kind === "ClusterRole")).toBe(true);
});

test("of the whole cluster: a ClusterRole and its binding", () => {
  const kinds = read(manifestOf({ ...base, namespaces: [] })).map(({ kind }) => kind);
  expect(kinds).toEqual(["ClusterRole", "ClusterRoleBinding"]);
});

test("a user is bound as one, and a name cannot break out of its line", () => {
  const identity = 'x"\n  - kind: User\n    name: other';
  const [, binding] = read(manifestOf({ ...base, namespaces: ["on"], identity }));
  expect(binding?.subjects).toEqual([{ kind: "User", name: identity }]);
  expect(binding?.metadata.namespace).toBe("on");
});

test("what is missing is remarked at its rule, and nowhere else", () => {
  const [deployments] = neededRights;
  if (deployments === undefined) throw new Error("No rights");
  const text = manifestOf({ ...base, lacking: [{ right: deployments, verbs: ["patch"], namespace: "shop" }] });
  expect(text).toContain("  # Missing: patch deployments\n  - apiGroups: [apps]\n");
  expect(text.split("# Missing").length).toBe(2);
});

test("rights for Helm are named, but not granted unless somebody takes the remark off", () => {
  const text = manifestOf({ ...base, is_helm_lacking: true });
  expect(text).toContain("  #   resources: [secrets]\n");
  expect(rightsIn(read(text)[0]?.rules ?? [])).toEqual(needed);
});
