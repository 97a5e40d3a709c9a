import { describe, expect, test } from "bun:test";
import { saidBy } from "../../../src/errors.ts";
import { parseKubeconfig, readKubeconfig } from "../../../src/runtimes/kubernetes/kubeconfig.ts";

const pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
const data = (text: string) => Buffer.from(text).toString("base64");

function kubeconfig(cluster: object = {}, user: object = { token: "secret-token" }, top: object = {}): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: "lab", cluster: { server: "https://lab:6443", "certificate-authority-data": data(pem), ...cluster } },
    ],
    users: [{ name: "me", user }],
    contexts: [
      { name: "lab", context: { cluster: "lab", user: "me", namespace: "shop" } },
      { name: "stray", context: { cluster: "gone", user: "me" } },
    ],
    "current-context": "lab",
    preferences: {},
    ...top,
  });
}

function refusal(text: string, context = "") {
  try {
    readKubeconfig(parseKubeconfig(text), context);
    return null;
  } catch (error) {
    return saidBy(error);
  }
}

describe("a kubeconfig", () => {
  test("gives the server, the authority and the login of its current context", () => {
    expect(readKubeconfig(parseKubeconfig(kubeconfig()), "")).toEqual({
      server: "https://lab:6443",
      tls_server_name: null,
      ca: pem,
      cert: null,
      key: null,
      token: "secret-token",
      basic: null,
    });
  });

  test("may have a client certificate, or a user with a password", () => {
    const certificate = { "client-certificate-data": data(pem), "client-key-data": data(pem) };
    expect(readKubeconfig(parseKubeconfig(kubeconfig({}, certificate)), "lab")).toMatchObject({
      cert: pem,
      key: pem,
      token: null,
    });
    const basic = { username: "me", password: "pass" };
    expect(readKubeconfig(parseKubeconfig(kubeconfig({}, basic)), "")).toMatchObject({ basic });
  });

  test.each([
    ["exec", {}, { exec: { command: "aws" } }],
    ["auth-provider", {}, { "auth-provider": { name: "gcp" } }],
    ["tokenFile", {}, { tokenFile: "/etc/shadow" }],
    ["client-key", {}, { token: "x", "client-key": "/root/key" }],
    ["client-certificate", {}, { token: "x", "client-certificate": "/root/cert" }],
    ["as", {}, { token: "x", as: "admin" }],
    ["as-groups", {}, { token: "x", "as-groups": ["system:masters"] }],
    ["certificate-authority", { "certificate-authority": "/etc/ca.crt" }, { token: "x" }],
    ["proxy-url", { "proxy-url": "http://elsewhere" }, { token: "x" }],
  ])("is refused by name for %s", (member, cluster, user) => {
    expect(refusal(kubeconfig(cluster, user))).toEqual({
      code: "kubernetes.kubeconfig_refused",
      params: { member },
    });
  });

  test("is refused without verification", () => {
    expect(refusal(kubeconfig({ "insecure-skip-tls-verify": true }))).toMatchObject({ code: "kubernetes.unverified" });
  });

  test("names the contexts that there are", () => {
    expect(refusal(kubeconfig(), "other")).toEqual({
      code: "kubernetes.context_unknown",
      params: { context: "other", known: ["lab", "stray"] },
    });
    expect(refusal(kubeconfig({}, {}, { "current-context": "" }))).toMatchObject({
      code: "kubernetes.context_missing",
    });
    expect(refusal(kubeconfig(), "stray")).toEqual({
      code: "kubernetes.kubeconfig_incomplete",
      params: { kind: "cluster", name: "gone" },
    });
  });

  test.each([
    ["text", "hello"],
    ["nothing", ""],
    ["broken YAML", "a: [b"],
    ["aliases", "a: &a [x]\nb: *a\nclusters: []"],
    ["a list of lists", "clusters: [[[]]]"],
  ])("is not %s", (_, text) => {
    expect(refusal(text)?.code).toMatch(/^kubernetes\.(kubeconfig_unreadable|context_missing)$/);
  });

  test("is at most 256 KiB large", () => {
    expect(refusal(`#${"x".repeat(256 * 1024)}`)).toMatchObject({ code: "kubernetes.kubeconfig_too_large" });
  });

  test("has certificates as PEM", () => {
    expect(refusal(kubeconfig({ "certificate-authority-data": "bm90IGEgY2VydA==" }))).toEqual({
      code: "kubernetes.not_pem",
      params: { member: "certificate-authority-data" },
    });
  });
});
