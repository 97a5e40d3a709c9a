import { describe, expect, test } from "bun:test";
import {
  composeImageLabel,
  composeLabels,
  composeOf,
  parseDependencies,
} from "../../../../src/runtimes/engine/compose/labels.ts";
import { containerInspect, imageInspect } from "../inspect.ts";

const labelled = (labels: Record<string, string>) => containerInspect({ Config: { Labels: labels } });
const base = { [composeLabels.project]: "shop", [composeLabels.service]: "Web" };

describe("composeOf()", () => {
  test("reads what compose 5 writes", () => {
    const found = composeOf(
      labelled({
        ...base,
        [composeLabels.number]: "2",
        [composeLabels.oneoff]: "False",
        [composeLabels.depends_on]: "db:service_healthy:true",
        [composeLabels.config_files]: "/srv/shop/compose.yaml,/srv/shop/override.yaml",
        [composeLabels.working_dir]: "/srv/shop",
        [composeLabels.environment_file]: "/srv/shop/prod.env",
        [composeLabels.config_hash]: "abc",
        [composeLabels.version]: "5.6.0",
      }),
    );
    expect(found).toEqual({
      project: "shop",
      service: "Web",
      number: 2,
      is_oneoff: false,
      depends_on: [{ service: "db", condition: "service_healthy", restarts: true }],
      config_files: ["/srv/shop/compose.yaml", "/srv/shop/override.yaml"],
      working_dir: "/srv/shop",
      environment_files: ["/srv/shop/prod.env"],
      config_hash: "abc",
      version: "5.6.0",
    });
  });

  test.each([
    ["no labels", {}],
    ["a project alone", { [composeLabels.project]: "shop" }],
    ["a service alone", { [composeLabels.service]: "web" }],
    ["a blank project", { ...base, [composeLabels.project]: "" }],
  ] as const)("is null for %s", (_what, labels) => {
    expect(composeOf(labelled({ ...labels }))).toBeNull();
  });

  test("takes the project from podman's own label where compose's is absent", () => {
    const found = composeOf(labelled({ "io.podman.compose.project": "pod", [composeLabels.service]: "web" }));
    expect(found).toMatchObject({ project: "pod", number: null, config_files: [], depends_on: [], config_hash: null });
  });

  test.each([
    ["0", null],
    ["-1", null],
    ["1.5", null],
    ["x", null],
    ["", null],
    ["3", 3],
  ] as const)("container number %p is %p", (text, number) => {
    expect(composeOf(labelled({ ...base, [composeLabels.number]: text }))?.number).toBe(number);
  });

  test("knows a one-off container", () => {
    expect(composeOf(labelled({ ...base, [composeLabels.oneoff]: "True" }))?.is_oneoff).toBe(true);
  });
});

describe("parseDependencies()", () => {
  const started = (service: string, restarts: boolean) => ({
    service,
    condition: "service_started" as const,
    restarts,
  });

  test.each([
    ["", []],
    [" , ,", []],
    ["db", [started("db", true)]],
    ["db:service_started", [started("db", true)]],
    ["db:service_started:false", [started("db", false)]],
    ["db:service_started:TRUE", [started("db", true)]],
    [":service_healthy:true", []],
    ["db:::", [started("db", false)]],
    ["db:anything:true:more", [started("db", true)]],
    ["db:service_started:false,db:service_started:true", [started("db", true)]],
    [
      "db:service_healthy:true, cache:service_started:false ,job:service_completed_successfully:false",
      [
        { service: "db", condition: "service_healthy", restarts: true },
        started("cache", false),
        { service: "job", condition: "service_completed_successfully", restarts: false },
      ],
    ],
  ] as const)("of %p", (label, found) => {
    expect(parseDependencies(label)).toEqual([...found]);
  });
});

describe("composeImageLabel()", () => {
  const [oldId, oldManifest, newId] = [`sha256:${"a".repeat(64)}`, "sha256:old-manifest", "sha256:new-id"];
  const manifest = (id: string, architecture: string, more = {}) => ({
    ID: id,
    Kind: "image",
    Available: true,
    ImageData: { Platform: { os: "linux", architecture } },
    ...more,
  });
  const several = [
    manifest("sha256:attestation", "amd64", { Kind: "attestation", ImageData: null }),
    manifest("sha256:not-here", "amd64", { Available: false }),
    manifest("sha256:arm", "arm64"),
    manifest("sha256:ours", "amd64"),
  ];
  const write = (
    label: string,
    descriptor: string | null,
    version: string,
    manifests: readonly unknown[] | undefined,
  ) => {
    const container = containerInspect({
      Image: oldId,
      Config: { Labels: { [composeLabels.image]: label, [composeLabels.version]: version } },
      ...(descriptor === null ? {} : { ImageManifestDescriptor: { digest: descriptor } }),
    });
    return composeImageLabel(container, imageInspect({ Id: newId, Manifests: manifests }))[composeLabels.image];
  };

  test.each([
    ["the id stays an id", oldId, oldManifest, "5.6.0", several, newId],
    ["the id stays an id on the classic store", oldId, null, "5.6.0", undefined, newId],
    [
      "a manifest stays the manifest of the engine's platform",
      oldManifest,
      oldManifest,
      "5.6.0",
      several,
      "sha256:ours",
    ],
    ["a manifest without any in the new image becomes its id", oldManifest, oldManifest, "5.6.0", undefined, newId],
    ["one and the same: old versions write the id", oldId, oldId, "2.40.3", several, newId],
    ["one and the same: 5.3 writes the id", oldId, oldId, "5.3.9", several, newId],
    ["one and the same: 5.4 writes the manifest", oldId, oldId, "5.4.0", several, "sha256:ours"],
    ["one and the same: 10.0 writes the manifest", oldId, oldId, "10.0.0", several, "sha256:ours"],
    ["one and the same: an unknown version writes the id", oldId, oldId, "dev", several, newId],
    ["neither: the version decides", "sha256:stale", oldManifest, "5.6.0", several, "sha256:ours"],
    [
      "one manifest alone, whatever its platform",
      oldManifest,
      oldManifest,
      "5.6.0",
      [manifest("sha256:arm", "arm64")],
      "sha256:arm",
    ],
    [
      "none of several for this platform",
      oldManifest,
      oldManifest,
      "5.6.0",
      [manifest("sha256:arm", "arm64"), manifest("sha256:s390x", "s390x")],
      newId,
    ],
  ] as const)("%s", (_what, label, descriptor, version, manifests, written) => {
    expect(write(label, descriptor, version, manifests)).toBe(written);
  });

  test("prefers the variant of the engine", () => {
    const container = containerInspect({
      Config: { Labels: { [composeLabels.image]: oldManifest } },
      ImageManifestDescriptor: { digest: oldManifest },
    });
    const variant = (id: string, name: string) =>
      manifest(id, "arm", { ImageData: { Platform: { os: "linux", architecture: "arm", variant: name } } });
    const image = imageInspect({
      Architecture: "arm",
      Variant: "v7",
      Manifests: [variant("sha256:v6", "v6"), variant("sha256:v7", "v7")],
    });
    expect(composeImageLabel(container, image)).toEqual({ [composeLabels.image]: "sha256:v7" });
  });

  test("gives nothing to a container without that label", () => {
    expect(composeImageLabel(containerInspect(), imageInspect())).toEqual({});
  });
});
