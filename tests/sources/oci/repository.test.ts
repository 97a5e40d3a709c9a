import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { AddressError } from "../../../src/sources/address-fields.ts";
import { parseRepository } from "../../../src/sources/oci/repository.ts";
import { OciConfig } from "../../../src/sources/oci/schema.ts";

const hub = "https://registry-1.docker.io";
const digest = `sha256:${"a".repeat(64)}`;

const meant: readonly [image: string, registry: string, imageName: string, origin: string][] = [
  ["nginx", "", "docker.io/library/nginx", hub],
  ["nginx:1.27", "", "docker.io/library/nginx", hub],
  [`nginx:1.27@${digest}`, "", "docker.io/library/nginx", hub],
  ["library/nginx", "docker.io", "docker.io/library/nginx", hub],
  ["docker.io/nginx", "docker.io", "docker.io/library/nginx", hub],
  ["grafana/grafana", "https://index.docker.io/v1/", "docker.io/grafana/grafana", hub],
  ["registry.hub.docker.com/library/nginx", "", "docker.io/library/nginx", hub],
  ["ghcr.io/owner/app:1", "", "ghcr.io/owner/app", "https://ghcr.io"],
  ["ghcr.io/owner/app", "ghcr.io", "ghcr.io/owner/app", "https://ghcr.io"],
  ["owner/app", "ghcr.io", "ghcr.io/owner/app", "https://ghcr.io"],
  ["owner/app", "https://GHCR.io/v2/", "ghcr.io/owner/app", "https://ghcr.io"],
  ["127.0.0.1:5000/acme/app:1", "http://127.0.0.1:5000", "127.0.0.1:5000/acme/app", "http://127.0.0.1:5000"],
  ["acme/app", "http://127.0.0.1:5000", "127.0.0.1:5000/acme/app", "http://127.0.0.1:5000"],
  ["127.0.0.1:5000/acme/app", "", "127.0.0.1:5000/acme/app", "https://127.0.0.1:5000"],
  ["http://registry.lan:5000/app", "", "registry.lan:5000/app", "http://registry.lan:5000"],
  [`localhost:5000/app@${digest}`, "", "localhost:5000/app", "https://localhost:5000"],
  ["app", "registry.lan:8443", "registry.lan:8443/app", "https://registry.lan:8443"],
  ["app", "registry", "registry:443/app", "https://registry"],
  ["app", "http://registry", "registry:80/app", "http://registry"],
  ["app", "[2001:db8::1]:5000", "[2001:db8::1]:5000/app", "https://[2001:db8::1]:5000"],
];

describe("parseRepository()", () => {
  test.each(meant)("reads image %p at registry %p as %p", (image, registry, imageName, origin) => {
    const repository = parseRepository(image, registry);
    expect(`${repository.registry}/${repository.name}`).toBe(imageName);
    expect(repository.origin).toBe(origin);
  });

  test.each([
    ["ghcr.io/owner/app", "quay.io", "image"],
    ["Owner/App", "ghcr.io", "image"],
    ["owner//app", "", "image"],
    ["../../etc", "ghcr.io", "image"],
    ["app:", "", "image"],
    ["ftp://ghcr.io/app", "", "image"],
    [digest, "", "image"],
    ["app", "ftp://ghcr.io", "registry"],
    ["app", "user:password@ghcr.io", "registry"],
    ["app", "ghcr.io:0", "registry"],
    ["app", "ghcr.io:99999", "registry"],
    ["app", "gh cr.io", "registry"],
    ["app", "ghcr.io\\@evil.example", "registry"],
    ["app", "999.999.999.999", "registry"],
  ])("refuses image %p at registry %p and names the field %p", (image, registry, field) => {
    let caught: unknown = null;
    try {
      parseRepository(image, registry);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(AddressError);
    expect(caught).toMatchObject({ field });
    const parsed = v.safeParse(OciConfig, { image, registry });
    expect(parsed.issues?.map((issue) => v.getDotPath(issue))).toEqual([field]);
  });
});

describe("OciConfig", () => {
  test("fills in what is left out and takes off blanks", () => {
    expect(v.parse(OciConfig, { image: " nginx " })).toEqual({
      image: "nginx",
      registry: "",
      published_at_mode: "auto",
    });
  });

  test.each([
    ["no image", {}, "image"],
    ["a blank image", { image: " " }, "image"],
    ["a long image", { image: "a".repeat(513) }, "image"],
    ["an image that is no text", { image: 7 }, "image"],
    ["an unknown mode", { image: "nginx", published_at_mode: "sometimes" }, "published_at_mode"],
    ["a long registry", { image: "nginx", registry: "a".repeat(301) }, "registry"],
    ["a misspelt field", { image: "nginx", regsitry: "ghcr.io" }, "regsitry"],
  ])("refuses %s and names the field", (_, input, field) => {
    const parsed = v.safeParse(OciConfig, input);
    expect(parsed.issues?.map((issue) => v.getDotPath(issue))).toEqual([field]);
  });
});
