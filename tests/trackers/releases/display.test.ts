import { expect, test } from "bun:test";
import { displayVersion, plainVersion, usesAppVersions } from "../../../src/trackers/releases/display.ts";

test.each([
  ["1.2.3", null, "1.2.3"],
  ["v1.2.3", null, "1.2.3"],
  ["release/1.2.3", null, "1.2.3"],
  ["vintage", null, "vintage"],
  ["latest", null, "latest"],
  ["0.9.1", "v2.4.0", "2.4.0"],
])("displayVersion() calls %p with application %p %p", (version, app_version, name) => {
  expect(displayVersion({ version, app_version }, true)).toBe(name);
});

test("displayVersion() leaves a chart its own version where charts are alone", () => {
  expect(displayVersion({ version: "0.9.1", app_version: "v2.4.0" }, false)).toBe("0.9.1");
});

test.each([
  ["helm", "helm", false],
  ["helm", "github", true],
  ["oci", "oci", true],
])("usesAppVersions() with %s and %s is %p", (one, other, uses) => {
  expect(usesAppVersions([{ kind: one }, { kind: other }])).toBe(uses);
});

test.each([
  ["v1.2", "1.2"],
  ["V7", "7"],
  ["1.2", "1.2"],
  ["vintage", "vintage"],
])("plainVersion(%p) is %p", (version, plain) => {
  expect(plainVersion(version)).toBe(plain);
});
