import { expect, test } from "bun:test";
import { similarNames } from "../../../src/sources/helm/similar-names.ts";

test.each([
  ["one letter off", "ngnix", ["nginx", "redis"], ["nginx"]],
  ["a part before a misspelling", "redis", ["redos", "redis-cluster"], ["redis-cluster", "redos"]],
  ["in other letters", "NGINX", ["nginx"], ["nginx"]],
  ["nothing alike", "grafana", ["redis", "nginx"], []],
  [
    "five at most, the shortest first",
    "app",
    ["app-6", "app55", "app-4", "app-3", "app-2", "app1"],
    ["app1", "app-2", "app-3", "app-4", "app-6"],
  ],
  ["nothing among none", "app", [], []],
])("similarNames() finds %s", (_what, name, names, similar) => {
  expect(similarNames(name, names)).toEqual(similar);
});
