import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { parse } from "yaml";
import { neededRights } from "../../../src/runtimes/kubernetes/rights.ts";

const Role = v.object({
  rules: v.array(
    v.object({ apiGroups: v.array(v.string()), resources: v.array(v.string()), verbs: v.array(v.string()) }),
  ),
});

/** `group/resource verb`, one for each right. */
function rightsIn({ rules }: v.InferOutput<typeof Role>): string[] {
  const all = rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${group}/${resource} ${verb}`))),
  );
  return all.toSorted();
}

test("the documented role has exactly the rights that a connection's test asks for", () => {
  const page = readFileSync(join(import.meta.dir, "../../../docs/kubernetes.md"), "utf8");
  const yaml = /```yaml\n(.*?)```/s.exec(page)?.[1] ?? "";
  const rules = neededRights.map(({ group, resource, verbs }) => ({
    apiGroups: [group],
    resources: [resource],
    verbs: [...verbs],
  }));
  expect(rightsIn(v.parse(Role, parse(yaml)))).toEqual(rightsIn({ rules }));
});
