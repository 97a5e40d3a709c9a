import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import {
  manifestDiffs,
  readManifest,
  secretsIn,
  secretValues,
  valuesDiffs,
  workloadsIn,
} from "../../../src/runtimes/kubernetes/helm/manifest.ts";
import { decodeRelease } from "../../../src/runtimes/kubernetes/helm/storage.ts";

const release = {
  name: "web",
  version: 3,
  info: { status: "deployed", description: "Upgrade complete" },
  chart: { metadata: { name: "web", version: "1.10.0", appVersion: "1.10" }, values: { tag: "1" }, templates: [] },
  config: { greeting: "mine" },
  manifest: "---\nkind: ConfigMap\n",
};
const packed = (value: unknown) => gzipSync(JSON.stringify(value)).toString("base64");

test("a stored release is read, packed or not", async () => {
  const { chart, info, manifest } = await decodeRelease(packed(release), "web");
  expect([chart.metadata.version, chart.metadata.appVersion, info.status, manifest]).toEqual([
    "1.10.0",
    "1.10",
    "deployed",
    release.manifest,
  ]);
  const plain = Buffer.from(JSON.stringify(release)).toString("base64");
  expect((await decodeRelease(plain, "web")).name).toBe("web");
});

test.each([
  ["nothing", ""],
  ["no base64", "%%%"],
  ["no JSON", gzipSync("hello").toString("base64")],
  ["half an archive", packed(release).slice(0, 60)],
  ["another object", packed({ name: "web" })],
  ["a bomb", gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20)).toString("base64")],
  ["deep nesting", gzipSync(`${"[".repeat(100_000)}${"]".repeat(100_000)}`).toString("base64")],
])("a stored release that is %s is an error that names it", async (_what, text) => {
  const error = await decodeRelease(text, "web").catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "malformed", said: { code: "kubernetes.release_unreadable" } });
});

const web = (image: string, more = "") => `
kind: Deployment
apiVersion: apps/v1
metadata: {name: web}
spec:
  template:
    spec:
      containers:
        - {name: side, image: "side:1"}
        - name: web
          image: ${image}
          env: [{name: DB_PASSWORD, value: ${image}}, {name: COLOR, value: ${image}}]
${more}`;
const secret = (value: string) => `---
kind: Secret
apiVersion: v1
metadata: {name: login, namespace: other}
data: {user: ${value}}
`;

test("a manifest's differences are named by object and field, without the values of secrets", () => {
  const before = readManifest(`${web("web:1")}${secret("b25l")}`, "shop");
  const after = readManifest(
    `${web("web:2")}${secret("dHdv")}---\nkind: Service\napiVersion: v1\nmetadata: {name: web}\n`,
    "shop",
  );
  const container = "Deployment shop/web: spec.template.spec.containers[web]";
  expect(manifestDiffs(before, after).map(({ path, before: from, after: to }) => [path, from, to])).toEqual([
    [`${container}.image`, "web:1", "web:2"],
    [`${container}.env[DB_PASSWORD].value`, "••••", "••••"],
    [`${container}.env[COLOR].value`, "web:1", "web:2"],
    ["Secret other/login: data.user", "••••", "••••"],
    ["Service shop/web", null, "v1"],
  ]);
  expect(workloadsIn(after)).toEqual([{ kind: "deployment", id: "shop/web" }]);
});

test("a chart's new defaults are named, without those that are secret", () => {
  const found = valuesDiffs(
    { tag: "1", auth: { password: "a", existingSecret: "x" } },
    { tag: "2", auth: { password: "b", existingSecret: "y" } },
  );
  expect(found.map(({ path, before, after }) => [path, before, after])).toEqual([
    ["values.tag", "1", "2"],
    ["values.auth.password", "••••", "••••"],
    ["values.auth.existingSecret", "••••", "••••"],
  ]);
});

test("the members of a list are objects of their own, and a list of Secrets is as secret as they are", () => {
  const list = (value: string) =>
    readManifest(
      `kind: List\napiVersion: v1\nitems:\n- {kind: Secret, metadata: {name: a}, data: {user: ${value}}}\n` +
        `- {kind: Deployment, apiVersion: apps/v1, metadata: {name: web}}\n` +
        `---\nkind: SecretList\napiVersion: v1\nitems: [{metadata: {name: b}, stringData: {user: ${value}}}]\n`,
      "shop",
    );
  expect(manifestDiffs(list("one"), list("two")).map(({ path, before, after }) => [path, before, after])).toEqual([
    ["Secret shop/a: data.user", "••••", "••••"],
    ["Secret shop/b: stringData.user", "••••", "••••"],
  ]);
  expect(workloadsIn(list("one"))).toEqual([{ kind: "deployment", id: "shop/web" }]);
});

test("an object of another group is no workload, whatever it is called", () => {
  const of = (apiVersion: string) =>
    readManifest(`kind: StatefulSet\napiVersion: ${apiVersion}\nmetadata: {name: web}\n`, "shop");
  expect(workloadsIn(of("apps.kruise.io/v1beta1"))).toEqual([]);
  expect(workloadsIn(of("apps/v1"))).toEqual([{ kind: "statefulset", id: "shop/web" }]);
});

test("what a release keeps secret is known, to be masked in the logs of its containers", () => {
  const objects = readManifest(
    `${web("web:1")}${secret(Buffer.from("kelp-otter").toString("base64"))}stringData: {token: lantern}\n`,
    "shop",
  );
  expect(secretsIn(objects).filter((value) => value !== "web:1")).toEqual(["kelp-otter", "lantern"]);
  expect(secretValues({ tag: "1", auth: { password: "kelp" }, url: "postgres://a:otter-lantern@db/x" })).toEqual([
    "kelp",
    "otter-lantern",
  ]);
});
