import { describe, expect, test } from "bun:test";
import { bareHost } from "../../src/net/address.ts";
import { isMetadataHost } from "../../src/net/destination.ts";
import { createGuard } from "../../src/net/guarded-fetch.ts";
import { parseOutboundAllow } from "../../src/net/outbound-allow.ts";
import { webUrl } from "../../src/net/web-url.ts";
import { addressWarnings, parseAddress } from "../../src/runtimes/engine/address.ts";
import { sources } from "../../src/sources/index.ts";
import { parseImageName } from "../../src/versions/image-reference.ts";
import { createFakeClock } from "../support/fake-clock.ts";

// A host with the dot of the root at its end is the same host, wherever it is judged.
describe("a host with a dot at its end", () => {
  test.each([
    ["https://host.example./a?b#c", "https://host.example/a?b#c"],
    ["https://host.example.:8443/", "https://host.example:8443/"],
    ["https://127.0.0.1./", "https://127.0.0.1/"],
    ["https://host.example/", "https://host.example/"],
  ])("webUrl(%p) is %s", (text, url) => {
    expect(webUrl(text).href).toBe(url);
  });

  test.each([
    "metadata.google.internal.",
    "METADATA.GOOGLE.INTERNAL.",
    "169.254.169.254.",
    "2852039166.",
    "fd00:ec2::254",
    "[fd00:ec2::254]",
  ])("%s is a metadata host", (host) => {
    expect(isMetadataHost(host)).toBe(true);
  });

  test("has no dot when it is judged", () => {
    expect([bareHost("host.example."), bareHost("host.example"), bareHost("[::1]")]).toEqual([
      "host.example",
      "host.example",
      "::1",
    ]);
  });

  test.each([
    ["hooks.lan:8080", "http://hooks.lan.:8080/"],
    ["hooks.lan.:8080", "http://hooks.lan:8080/"],
  ])("OUTBOUND_ALLOW=%s reaches %s", async (allow, url) => {
    let asked = "";
    const guard = createGuard({
      clock: createFakeClock(),
      allow: parseOutboundAllow(allow),
      resolve: (name) => {
        asked = name;
        return Promise.reject(new Error("known to nobody"));
      },
    });
    const signal = new AbortController().signal;
    const context = guard.open({ purpose: "webhook", timeout_ms: 1_000, signal });
    await expect(context.fetch(new URL(url))).rejects.toMatchObject({ code: "unreachable" });
    expect(asked).toBe("hooks.lan");
  });

  test("is the same engine and the same registry", () => {
    expect(parseAddress("tcp://docker.lan.:2375")).toEqual({ kind: "tcp", host: "docker.lan", port: 2375 });
    expect(addressWarnings("tcp://localhost.:2375", false).map(({ code }) => code)).toEqual(["tls_not_verified"]);
    expect(parseImageName("a/b", "https://reg.example.:5000/v2/").registry).toBe("reg.example:5000");
    expect(parseImageName("a/b", "docker.io.").registry).toBe("docker.io");
  });

  test.each([
    ["github", { repository: "https://git.example./a/b" }, "git.example"],
    ["github", { repository: "https://github.com./a/b" }, "api.github.com"],
    ["gitlab", { project: "a/b", instance_url: "https://git.example." }, "git.example"],
    ["gitlab", { project: "https://git.example./a/b" }, "git.example"],
    ["gitea", { repository: "https://git.example./a/b" }, "git.example"],
    ["helm", { chart: "app", repository_url: "https://charts.example./stable" }, "charts.example"],
    ["helm", { chart: "app", repository_url: "oci://charts.example./stable" }, "charts.example"],
    ["oci", { image: "a/b", registry: "https://reg.example./" }, "reg.example"],
  ] as const)("is the same upstream for %s: %p", (kind, config, host) => {
    expect(sources[kind].host(config)).toBe(host);
  });
});
