import { describe, expect, test } from "bun:test";
import {
  formatImageReference,
  ImageReferenceError,
  parseImageName,
  parseImageReference,
} from "../../src/versions/image-reference.ts";

const digest = `sha256:${"0123456789abcdef".repeat(4)}`;

function codeOf(work: () => unknown): string | null {
  try {
    work();
  } catch (error) {
    if (error instanceof ImageReferenceError) return error.said.code.slice(error.said.code.indexOf(".") + 1);
    throw error;
  }
  return null;
}

describe("parseImageReference()", () => {
  test.each([
    ["nginx", "docker.io/library/nginx"],
    ["nginx:1.27", "docker.io/library/nginx:1.27"],
    ["library/nginx:1.27", "docker.io/library/nginx:1.27"],
    ["docker.io/nginx", "docker.io/library/nginx"],
    ["docker.io/library/nginx", "docker.io/library/nginx"],
    ["index.docker.io/library/nginx", "docker.io/library/nginx"],
    ["registry-1.docker.io/library/nginx:1", "docker.io/library/nginx:1"],
    ["registry-1.docker.io:443/grafana/grafana", "docker.io/grafana/grafana"],
    ["grafana/grafana:11.0.0", "docker.io/grafana/grafana:11.0.0"],
    [`nginx@${digest}`, `docker.io/library/nginx@${digest}`],
    [`nginx:1.27@${digest}`, `docker.io/library/nginx:1.27@${digest}`],
    ["localhost/app", "localhost/app"],
    ["localhost:5000/app:1", "localhost:5000/app:1"],
    ["127.0.0.1:5000/team/app", "127.0.0.1:5000/team/app"],
    ["[::1]:5000/app:1", "[::1]:5000/app:1"],
    ["registry:5000/app", "registry:5000/app"],
    ["GHCR.io/owner/app", "ghcr.io/owner/app"],
    ["ghcr.io/owner/app:V1.2-RC", "ghcr.io/owner/app:V1.2-RC"],
    ["quay.io/keycloak/keycloak:24.0.5-0", "quay.io/keycloak/keycloak:24.0.5-0"],
    ["mcr.microsoft.com/dotnet/sdk:8.0", "mcr.microsoft.com/dotnet/sdk:8.0"],
    ["lscr.io/linuxserver/sonarr", "lscr.io/linuxserver/sonarr"],
    ["registry.example.com/a/b/c/d:1_2", "registry.example.com/a/b/c/d:1_2"],
    ["a__b/c---d.e", "docker.io/a__b/c---d.e"],
    ["https://ghcr.io/owner/app:1", "ghcr.io/owner/app:1"],
    ["docker://alpine:3.20", "docker.io/library/alpine:3.20"],
    ["  nginx:1.27\n", "docker.io/library/nginx:1.27"],
  ])("reads %s", (text, canonical) => {
    const reference = parseImageReference(text);
    expect(formatImageReference(reference)).toBe(canonical);
    expect(parseImageReference(canonical)).toEqual({ ...reference, scheme: "https" });
  });

  test("speaks http only where it is written out", () => {
    expect(parseImageReference("http://registry.lan:5000/app:1").scheme).toBe("http");
    expect(parseImageReference("registry.lan:5000/app:1").scheme).toBe("https");
    expect(parseImageReference("localhost:5000/app").scheme).toBe("https");
  });

  test.each([
    ["", "blank"],
    [" \t", "blank"],
    ["Nginx", "uppercase"],
    ["ghcr.io/Owner/app", "uppercase"],
    ["Not an image", "repository"],
    ["nginx:", "tag"],
    ["nginx:.1", "tag"],
    ["nginx:1 2", "tag"],
    [`nginx:${"1".repeat(129)}`, "tag"],
    ["nginx@sha256:abc", "digest"],
    ["nginx@", "digest"],
    [`nginx@${digest.toUpperCase()}`, "digest"],
    [`nginx@${digest}@${digest}`, "digest"],
    [digest, "id"],
    ["ghcr.io/", "repository"],
    ["/nginx", "repository"],
    ["owner//app", "repository"],
    ["owner/-app", "repository"],
    ["owner/../app", "repository"],
    ["ngi nx", "repository"],
    ["nginx\u0000", "repository"],
    ["образ", "repository"],
    ["ghcr.io:99999/app", "registry"],
    ["ghcr..io/app", "registry"],
    ["user:secret@ghcr.io/app", "digest"],
    ["ftp://ghcr.io/app", "scheme"],
    [`ghcr.io/${"a/".repeat(200)}a`, "too_long"],
    ["a".repeat(10_000), "too_long"],
    ["a-".repeat(120), "repository"],
  ])("refuses %j as %s", (text, code) => {
    expect(codeOf(() => parseImageReference(text))).toBe(code);
  });

  test("says what would be right, without control characters and at bounded length", () => {
    expect(() => parseImageReference("ghcr.io/Owner/App")).toThrow('enter "owner/app"');
    const message = String(
      (() => {
        try {
          return parseImageReference(`a\u001b[31m${"b".repeat(900)}!`);
        } catch (error) {
          return error instanceof Error ? error.message : "";
        }
      })(),
    );
    expect(message).not.toContain("\u001b");
    expect(message.length).toBeLessThan(400);
  });
});

describe("parseImageName()", () => {
  test.each([
    ["nginx", "", "docker.io/library/nginx", "https"],
    ["nginx", "docker.io", "docker.io/library/nginx", "https"],
    ["nginx", "https://index.docker.io/v1/", "docker.io/library/nginx", "https"],
    ["nginx:1.27", "docker.io", "docker.io/library/nginx", "https"],
    [`nginx:1.27@${digest}`, "", "docker.io/library/nginx", "https"],
    ["owner/app", "ghcr.io", "ghcr.io/owner/app", "https"],
    ["ghcr.io/owner/app", "ghcr.io", "ghcr.io/owner/app", "https"],
    ["ghcr.io/owner/app:1.2", "https://ghcr.io/", "ghcr.io/owner/app", "https"],
    ["ghcr.io/owner/app", "", "ghcr.io/owner/app", "https"],
    ["ghcr.io/owner/app", "docker.io", "ghcr.io/owner/app", "https"],
    ["docker.io/library/nginx", "registry-1.docker.io", "docker.io/library/nginx", "https"],
    ["app", "registry.lan:5000", "registry.lan:5000/app", "https"],
    ["app", "http://registry.lan:5000", "registry.lan:5000/app", "http"],
    ["registry.lan:5000/app:1", "http://registry.lan:5000/v2/", "registry.lan:5000/app", "http"],
    ["http://registry.lan:5000/app", "", "registry.lan:5000/app", "http"],
    ["app", "registry:443", "registry:443/app", "https"],
    ["app", "registry.gitlab.com/group/project", "registry.gitlab.com/group/project/app", "https"],
    ["group/project/app", "registry.gitlab.com/group/project", "registry.gitlab.com/group/project/app", "https"],
  ] as const)("of %s at %j is %s", (image, address, name, scheme) => {
    const parsed = parseImageName(image, address);
    expect(formatImageReference(parsed)).toBe(name);
    expect(parsed.scheme).toBe(scheme);
  });

  test.each([
    ["quay.io/owner/app", "ghcr.io", "two_registries"],
    ["App", "ghcr.io", "uppercase"],
    ["app", "not a host", "registry"],
    ["app", "registry", "owner_as_registry"],
    ["", "ghcr.io", "repository"],
    [digest, "", "id"],
  ])("refuses %j at %j as %s", (image, address, code) => {
    expect(codeOf(() => parseImageName(image, address))).toBe(code);
  });
});
