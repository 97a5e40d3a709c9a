import { describe, expect, test } from "bun:test";
import { isPlainRegistry } from "../../../src/runtimes/engine/plain-registry.ts";

// As Docker 20.10 answers `GET /info`, with "insecure-registries": ["any.test", "reg.test:5000", "192.0.2.0/24"].
const docker = {
  RegistryConfig: {
    InsecureRegistryCIDRs: ["::1/128", "127.0.0.0/8", "192.0.2.0/24"],
    IndexConfigs: {
      "docker.io": { Name: "docker.io", Mirrors: [], Secure: true, Official: true },
      "any.test": { Name: "any.test", Mirrors: [], Secure: false, Official: false },
      "reg.test:5000": { Name: "reg.test:5000", Mirrors: [], Secure: false, Official: false },
    },
  },
};
// As Podman 4.3 answers it of its registries.conf.
const insecure = { Mirrors: [], Secure: false, Official: false };
const podman = {
  RegistryConfig: {
    InsecureRegistryCIDRs: [],
    IndexConfigs: {
      "*.lan.test": { Name: "*.lan.test", ...insecure },
      "any.test": { Name: "any.test", ...insecure },
      "alias.test/team": { Name: "alias.test/team", ...insecure },
    },
  },
};

describe("isPlainRegistry()", () => {
  test.each([
    [docker, "reg.test:5000/app:1", true],
    [docker, "reg.test:5000/team/app@sha256:0", true],
    [docker, "reg.test/app", false],
    [docker, "any.test/app", true],
    [docker, "any.test:5000/app", false],
    [docker, "reg.test:5001/app", false],
    [docker, "nginx", false],
    [docker, "docker.io/library/nginx", false],
    [docker, "127.0.0.1:5000/app", true],
    [docker, "localhost:5000/app", true],
    [docker, "192.0.2.7/app", true],
    [docker, "192.0.3.7:5000/app", false],
    [docker, "[::1]:5000/app", true],
    [docker, "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false],
    [podman, "reg.lan.test:5000/app", true],
    [podman, "reg.lan.test/app", true],
    [podman, "lan.test/app", false],
    [podman, "any.test/app", true],
    [podman, "any.test:5000/app:1", true],
    [podman, "alias.test/team/app:1", true],
    [podman, "alias.test/teams/app:1", false],
    [podman, "localhost:5000/app", false],
    [{}, "reg.test:5000/app", false],
    [{ RegistryConfig: { InsecureRegistryCIDRs: ["x", "1.2.3.4", "1.2.3.4/99", null] } }, "1.2.3.4/app", false],
  ])("tells of an engine's answer %#: %s", (info, image, expected) => {
    expect(isPlainRegistry(info, image, info === podman ? "podman" : "docker")).toBe(expected);
  });
});
