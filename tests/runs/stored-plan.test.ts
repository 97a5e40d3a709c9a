import { expect, test } from "bun:test";
import { storedPlan } from "../../src/runs/stored-plan.ts";
import { runtimes } from "../../src/runtimes/index.ts";
import type { TargetKind } from "../../src/runtimes/target-kind.ts";

const side = { reference: "app:1", digest: null, is_running: true };
const common = {
  ref: { kind: "container", id: "web" },
  services: [{ service: "main", from: { ...side, image_id: "a" }, to: side }],
  owed: [],
};
const containers = [{ name: "web", service: "main", because: "desired", is_running: true }];
const kindOf = (kind: string): TargetKind => {
  const found = runtimes.docker.target_kinds.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(kind);
  return found;
};

test.each([
  ["an earlier version, beside the common members", { ...common, containers }],
  ["this version, by itself", { ...common, containers, detail: { containers } }],
])("the parts of a plan are read as they were stored by %s", (_, column) => {
  expect(storedPlan(column, kindOf)?.parts).toEqual([
    { name: "web", service: "main", because: "desired", is_running: true },
  ] as never);
});

test("a detail keeps members that are called like common ones", () => {
  const detail = { services: ["pod"], owed: "nobody", containers: [{ name: "sidecar" }] };
  const seen: unknown[] = [];
  const parts = (given: unknown) => {
    seen.push(given);
    return [];
  };
  const kind = { ...kindOf("container"), parts };
  expect(storedPlan({ ...detail, ...common, detail }, () => kind)).toMatchObject({
    services: common.services,
    owed: [],
    detail,
  });
  expect(seen).toEqual([detail]);
});
