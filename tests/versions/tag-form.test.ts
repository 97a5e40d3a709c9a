import { describe, expect, test } from "bun:test";
import { tagsInForm } from "../../src/versions/tag-form.ts";

describe("tagsInForm()", () => {
  // What runs, what the channel offers, what the image's tag is then called.
  test.each([
    ["1.2.3", "v1.2.4", ["1.2.4"]],
    ["v1.2.3", "1.2.4", ["v1.2.4"]],
    ["v1.2.3", "v1.2.4", ["v1.2.4"]],
    ["1.2.3", "release/1.2.4", ["1.2.4"]],
    ["1.2.3", "app-v1.2.4", ["1.2.4"]],
    ["16.1", "REL_16_2", ["16.2"]],
    ["8.4.0", "curl-8_5_0", ["8.5.0"]],
    ["1.2.3", "v1.3.0-rc.1", ["1.3.0-rc.1"]],
    ["1.3.0-rc.1", "v1.3.0", ["1.3.0"]],
    // The variant stays as it is written, wherever it stands.
    ["1.2.3-alpine", "v1.2.4", ["1.2.4-alpine"]],
    ["1.2.3-alpine3.20", "v1.2.4", ["1.2.4-alpine3.20"]],
    ["1.2-slim-bookworm", "v1.3", ["1.3-slim-bookworm"]],
    ["1.2.3_Slim", "v1.2.4", ["1.2.4_Slim"]],
    ["alpine-v18.2.0", "v18.3.0", ["alpine-v18.3.0"]],
    ["slim-2.10.4", "v2.10.5", ["slim-2.10.5"]],
    ["16-alpine", "v16.4", ["16.4-alpine"]],
    ["8.4-rc1-alpine", "8.4.0", ["8.4.0-alpine"]],
    ["1.2.3-alpine", "1.2.4-alpine", ["1.2.4-alpine"]],
    ["1.2.3", "1.2.4-alpine", ["1.2.4"]],
    // A build of the old version is none of the new one.
    ["1.2.3-ls45", "1.2.4-ls46", ["1.2.4-ls46"]],
    ["1.2.3-ls45", "v1.2.4", ["1.2.4"]],
    ["v1.30.1-k3s1", "v1.30.2+k3s1", ["v1.30.2-k3s1", "v1.30.2_k3s1"]],
    ["21.0.4_7-jre-alpine", "jdk-21.0.5+11", ["21.0.5-11-jre-alpine", "21.0.5_11-jre-alpine"]],
    ["2024.1.0", "v2024.2.0", ["2024.2.0"]],
    ["RELEASE.2024-06-04T19-20-08Z", "RELEASE.2024-07-01T10-00-00Z", ["RELEASE.2024-07-01T10-00-00Z"]],
    // A name that moves tells its variant and not how a number is written.
    ["latest", "v1.2.4", ["v1.2.4", "1.2.4"]],
    ["latest", "1.2.4", ["1.2.4", "v1.2.4"]],
    ["stable-alpine", "v1.2.4", ["v1.2.4-alpine", "1.2.4-alpine"]],
    ["alpine", "1.2.4", ["1.2.4-alpine", "v1.2.4-alpine"]],
    ["lts-slim", "1.2.4", ["1.2.4-slim", "v1.2.4-slim"]],
  ])("%s to %s", (running, version, tags) => {
    expect(tagsInForm(running, version)).toEqual(tags);
  });

  test.each([
    ["a version without a number", "1.2.3", "nightly"],
    ["a version that is a commit", "1.2.3", "sha-0123456789abcdef"],
    ["a running tag that is a commit", "sha-0123456789abcdef", "v1.2.3"],
    ["a running tag that is a piece of work", "pr-12", "v1.2.3"],
    ["a running tag of a line's nightlies", "1.22-nightly", "v1.23.0"],
    ["a version that no tag can hold", "1.2.3", `v1.2.4-rc.${"1".repeat(130)}`],
  ])("has none for %s", (_what, running, version) => {
    expect(tagsInForm(running, version)).toEqual([]);
  });
});
