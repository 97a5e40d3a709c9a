import { describe, expect, test } from "bun:test";
import { compareImages, desiredReference, type ReferenceMode } from "../../src/versions/desired-image.ts";
import { ImageReferenceError } from "../../src/versions/image-reference.ts";

const a = `sha256:${"a".repeat(64)}`;
const b = `sha256:${"b".repeat(64)}`;

describe("desiredReference()", () => {
  test.each([
    [
      "nginx:1.26",
      "docker.io/library/nginx",
      "keep_name",
      "tag",
      "docker.io/library/nginx:1.27",
      `docker.io/library/nginx@${a}`,
    ],
    [
      "nginx:1.26",
      "docker.io/library/nginx",
      "use_tracker",
      "tag",
      "docker.io/library/nginx:1.27",
      `docker.io/library/nginx@${a}`,
    ],
    ["nginx", "nginx:1.25", "keep_name", "tag", "docker.io/library/nginx:1.27", `docker.io/library/nginx@${a}`],
    ["nginx:1.26", "nginx", "keep_name", "digest", `docker.io/library/nginx@${a}`, `docker.io/library/nginx@${a}`],
    [`nginx@${b}`, "nginx", "keep_name", "tag", "docker.io/library/nginx:1.27", `docker.io/library/nginx@${a}`],
    [`nginx:1.26@${b}`, "nginx", "keep_name", "digest", `docker.io/library/nginx@${a}`, `docker.io/library/nginx@${a}`],
    [
      "mirror.lan:5000/nginx:1.26",
      "nginx",
      "keep_name",
      "tag",
      "mirror.lan:5000/nginx:1.27",
      "mirror.lan:5000/nginx:1.27",
    ],
    [
      "mirror.lan:5000/nginx:1.26",
      "nginx",
      "keep_name",
      "digest",
      `mirror.lan:5000/nginx@${a}`,
      `mirror.lan:5000/nginx@${a}`,
    ],
    [
      "mirror.lan:5000/nginx:1.26",
      "nginx",
      "use_tracker",
      "tag",
      "docker.io/library/nginx:1.27",
      `docker.io/library/nginx@${a}`,
    ],
    [
      "linuxserver/sonarr",
      "lscr.io/linuxserver/sonarr",
      "use_tracker",
      "tag",
      "lscr.io/linuxserver/sonarr:1.27",
      `lscr.io/linuxserver/sonarr@${a}`,
    ],
    [
      b,
      "http://registry.lan:5000/app",
      "use_tracker",
      "tag",
      "registry.lan:5000/app:1.27",
      `registry.lan:5000/app@${a}`,
    ],
  ] as const)("from %s, tracker %s, %s by %s", (current, tracker, policy, mode, reference, pull) => {
    expect(desiredReference({ current, tracker, tag: "1.27", digest: a, policy, mode })).toMatchObject({
      reference,
      pull,
    });
  });

  test("pulls by tag while the digest is unknown", () => {
    expect(
      desiredReference({
        current: "nginx",
        tracker: "nginx",
        tag: "1.27",
        digest: null,
        policy: "keep_name",
        mode: "tag",
      }),
    ).toEqual({ reference: "docker.io/library/nginx:1.27", pull: "docker.io/library/nginx:1.27", digest: null });
  });

  test.each([
    ["digest_unknown", { current: "nginx", digest: null, mode: "digest", tag: "1" }],
    ["no_name_to_keep", { current: a, digest: a, mode: "tag", tag: "1" }],
    ["no_name_to_keep", { current: "a".repeat(64), digest: a, mode: "tag", tag: "1" }],
    ["tag", { current: "nginx", digest: a, mode: "tag", tag: "1 && reboot" }],
    ["digest", { current: "nginx", digest: "sha256:1", mode: "digest", tag: "1" }],
    ["tag", { current: "nginx", digest: a, mode: "tag", tag: "" }],
  ] as const)("refuses with %s", (code, request) => {
    const work = () => desiredReference({ ...request, tracker: "nginx", policy: "keep_name" });
    expect(work).toThrow(ImageReferenceError);
    expect(work).toThrow(expect.objectContaining({ said: expect.objectContaining({ code: `images.${code}` }) }));
  });

  test("does not oscillate: applied again it gives the same, and switching the mode back ends where it began", () => {
    for (const start of [
      "nginx:1.26",
      `nginx@${b}`,
      `nginx:1.26@${b}`,
      "mirror.lan:5000/nginx",
      "docker.io/library/nginx:1.27",
    ]) {
      const apply = (current: string, mode: ReferenceMode) =>
        desiredReference({ current, tracker: "nginx", tag: "1.27", digest: a, policy: "keep_name", mode }).reference;
      const tagged = apply(start, "tag");
      const pinned = apply(tagged, "digest");
      expect(apply(tagged, "tag")).toBe(tagged);
      expect(apply(pinned, "digest")).toBe(pinned);
      expect(apply(pinned, "tag")).toBe(tagged);
      expect(apply(start, "digest")).toBe(pinned);
      expect(compareImages({ reference: tagged, digest: a }, { reference: apply(tagged, "tag"), digest: a })).toBe(
        "current",
      );
    }
  });
});

describe("compareImages()", () => {
  test.each([
    ["nginx:1.27", a, "docker.io/library/nginx:1.27", a, "current"],
    ["nginx", a, "nginx:latest", a, "current"],
    [`nginx@${a}`, null, `nginx@${a}`, null, "current"],
    [`nginx:1.27@${a}`, null, `nginx@${a}`, null, "current"],
    ["nginx:1.27", a, "nginx:1.27", b, "new_digest"],
    ["nginx:1.27", a, `nginx@${a}`, null, "other_mode"],
    [`nginx@${a}`, null, "nginx:1.27", a, "other_mode"],
    ["nginx:1.26", a, "nginx:1.27", b, "other_version"],
    [`nginx@${a}`, null, `nginx@${b}`, null, "other_version"],
    ["nginx:1.27", a, `nginx@${b}`, null, "other_version"],
    ["nginx:1.27", a, "nginx:1.27.3", a, "other_tag"],
    ["nginx:1.27", null, "nginx:1.27", a, "unknown"],
    ["nginx:1.27", a, "nginx:1.27", null, "unknown"],
    ["nginx:1.26", null, "nginx:1.27", null, "other_version"],
    ["nginx:1.27", a, "ghcr.io/library/nginx:1.27", a, "other_name"],
    ["index.docker.io/library/nginx:1.27", a, "nginx:1.27", a, "current"],
    [a, a, "nginx:1.27", a, "other_name"],
  ] as const)("of %s (%s) and %s (%s) is %s", (found, foundDigest, wanted, wantedDigest, expected) => {
    expect(compareImages({ reference: found, digest: foundDigest }, { reference: wanted, digest: wantedDigest })).toBe(
      expected,
    );
  });
});
