import { afterEach, expect, test } from "bun:test";
import type { IncomingMessage, ServerResponse } from "node:http";
import * as v from "valibot";
import { systemClock } from "../../../src/clock.ts";
import type { PluginError } from "../../../src/errors.ts";
import { plain, say } from "../../../src/messages/message.ts";
import { accessOf } from "../../../src/runtimes/kubernetes/access.ts";
import { openCluster, Refused } from "../../../src/runtimes/kubernetes/client.ts";
import { discoverTargets } from "../../../src/runtimes/kubernetes/discover.ts";
import { lookAtPods } from "../../../src/runtimes/kubernetes/explain.ts";
import { kubernetes } from "../../../src/runtimes/kubernetes/index.ts";
import { Named, Workload } from "../../../src/runtimes/kubernetes/objects.ts";
import { findMissingRights } from "../../../src/runtimes/kubernetes/rights.ts";
import { Config, Secret } from "../../../src/runtimes/kubernetes/schema.ts";
import { foundFrom } from "../../../src/runtimes/kubernetes/workloads.ts";
import { authorityMissing } from "../../peers/authority.ts";
import { type ApiServer, json, startApiServer } from "../../support/api-server.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { codesIn } from "../../support/meaning.ts";
import { peerSuite } from "../../support/peer.ts";

const failure = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error("It succeeded");
    },
    (error: PluginError) => error,
  );
const forbidden = { kind: "Status", reason: "Forbidden", message: "no", code: 403 };
const pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
const cronjob = {
  metadata: { name: "nightly", namespace: "shop" },
  spec: { jobTemplate: { spec: { template: { spec: { containers: [{ name: "job", image: "job:1" }] } } } } },
};

peerSuite("an API server that misbehaves", authorityMissing(), () => {
  let server: ApiServer;
  afterEach(() => server[Symbol.asyncDispose]());
  const namespaces = () =>
    server.cluster.list(
      ({ core }) => core.listNamespace(),
      Named,
      () => undefined,
    );

  test("its words never carry our login", async () => {
    server = await startApiServer((request, response) =>
      json(response, 403, { ...forbidden, message: `denied for ${request.headers.authorization}` }),
    );
    const error = await failure(namespaces());
    expect(error.code).toBe("unauthorized");
    expect(error.message).toContain("denied for Bearer ***");
    expect(JSON.stringify(error.said)).not.toContain("very-secret");
  });

  test.each([
    ["a page of a proxy", 200, "<html>hello</html>", "malformed"],
    ["an object of another form", 200, '{"items":{"a":1}}', "malformed"],
    ["an error without a body", 503, "", "unreachable"],
    ["a redirection", 302, "", "rejected"],
  ])("%s is an error that names it", async (_what, status, body, code) => {
    server = await startApiServer((_request, response) => response.writeHead(status).end(body));
    expect((await failure(namespaces())).code).toBe(code as PluginError["code"]);
  });

  test.each([
    ["that has expired", { is_expired: true }, {}, "certificate_expired"],
    ["for another name", { name: "elsewhere" }, {}, "certificate_misnamed"],
    ["of an authority that nobody named", {}, { ca: null }, "certificate_untrusted"],
  ])("a certificate %s is named with what to do", async (_what, issued, changed, code) => {
    server = await startApiServer((_request, response) => response.end("{}"), issued);
    const { signal } = new AbortController();
    const cluster = openCluster({ ...server.access, ...changed }, { clock: systemClock, signal });
    const error = await failure(cluster.send(({ core }) => core.listNamespace(), Named));
    cluster.close();
    expect([error.code, error.said.code]).toEqual(["unreachable", `kubernetes.${code}`]);
    // Only the time is asked for, and without our login.
    expect(server.asked).toEqual(code === "certificate_expired" ? ["HEAD /"] : []);
  });

  test.each([
    ["a certificate", true, ["kubernetes.certificate_expired", "net.clock_differs"]],
    ["a token", false, ["kubernetes.unauthenticated", "net.clock_differs"]],
  ])("%s that is refused while the clocks differ is named with the difference", async (_what, is_expired, codes) => {
    const logins: unknown[] = [];
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      logins.push(request.headers.authorization);
      response.setHeader("date", new Date(Date.now() - 3 * 3_600_000).toUTCString());
      json(response, 401, { kind: "Status", code: 401, reason: "Unauthorized", message: "Unauthorized" });
    };
    server = await startApiServer(answer, { is_expired });
    const error = await failure(namespaces());
    expect(codesIn(error.said)).toEqual(["phrases.joined", ...codes]);
    expect(error instanceof Refused).toBe(!is_expired);
    expect(logins).toEqual([is_expired ? undefined : server.access.authorization]);
  });

  test("a list that never ends is given up", async () => {
    server = await startApiServer((_request, response) =>
      json(response, 200, { metadata: { continue: "x" }, items: [] }),
    );
    expect((await failure(namespaces())).said).toEqual(say("kubernetes.endless_list"));
    expect(server.asked.length).toBe(2000);
  });

  test.each([410, 500])("an error inside a watch has the server's own status %p", async (code) => {
    server = await startApiServer((_request, response) => {
      const object = { kind: "Status", code, reason: "Expired", message: "too old" };
      response.writeHead(200).end(`${JSON.stringify({ type: "ERROR", object })}\n`);
    });
    const events = server.cluster.watch(({ core }) => core.listNamespace(), "1", new AbortController().signal);
    const error = await failure(events.next());
    expect(error).toBeInstanceOf(Refused);
    expect((error as Refused).status).toBe(code);
  });

  test("what may be listed is, when some kinds may not", async () => {
    server = await startApiServer((_request, response, { pathname }) => {
      if (pathname === "/apis/batch/v1/namespaces/shop/cronjobs")
        json(response, 200, { metadata: {}, items: [cronjob] });
      else json(response, 403, forbidden);
    });
    const found = await discoverTargets(server.cluster, ["shop", "closed"], null);
    expect(found.map(({ ref }) => ref)).toEqual([{ kind: "cronjob", id: "shop/nightly" }]);
  });

  test("releases are listed namespace by namespace where they may not be listed at once", async () => {
    server = await startApiServer((_request, response, { pathname }) => {
      const items = pathname === "/api/v1/namespaces" ? ["shop", "closed"].map((name) => ({ metadata: { name } })) : [];
      json(response, 200, { metadata: {}, items });
    });
    const asked: (string | null)[] = [];
    await discoverTargets(server.cluster, [], async (namespace) => {
      asked.push(namespace);
      return namespace === "shop" ? [] : null;
    });
    expect(asked).toEqual([null, "shop", "closed"]);
  });

  test("of events about pods that were not created, the last one of this workload counts", async () => {
    const event = (kind: string, name: string, lastTimestamp: string) => ({
      ...{ message: `${name} at ${lastTimestamp}`, involvedObject: { kind, name }, lastTimestamp },
    });
    server = await startApiServer((_request, response, { pathname }) => {
      const items = [
        event("ReplicaSet", "web-6f9c", "2026-01-02T03:04:07Z"),
        event("ReplicaSet", "web-7b57", "2026-01-02T03:04:05Z"),
        event("ReplicaSet", "webshop-5d4c", "2026-01-02T03:04:09Z"),
        event("ReplicaSet", "web-shop-5d4c", "2026-01-02T03:04:09Z"),
        event("Job", "web-6f9c", "2026-01-02T03:04:09Z"),
      ];
      json(response, 200, { metadata: {}, items: pathname.endsWith("/events") ? items : [] });
    });
    const object = {
      metadata: { name: "web", namespace: "shop" },
      spec: { selector: { matchLabels: { app: "web" } }, template: { spec: { containers: [] } } },
    };
    const found = foundFrom("deployment", v.parse(Workload, object));
    const said = plain("web-6f9c at 2026-01-02T03:04:07Z");
    expect(await lookAtPods(server.cluster, found)).toEqual({ pods: [], why: say("kubernetes.not_created", { said }) });
  });

  test("an event about a pod that was not created is past once a new pod was", async () => {
    const at = "2026-01-02T03:04:05Z";
    let created = "2026-01-02T03:04:04Z";
    server = await startApiServer((_request, response, { pathname }) => {
      const event = {
        message: "exceeded quota",
        involvedObject: { kind: "StatefulSet", name: "web" },
        lastTimestamp: at,
      };
      const pod = {
        metadata: { name: "web-0", namespace: "shop", creationTimestamp: created },
        spec: { containers: [] },
        status: { containerStatuses: [{ name: "web", state: { waiting: { reason: "ContainerCreating" } } }] },
      };
      json(response, 200, { metadata: {}, items: [pathname.endsWith("/events") ? event : pod] });
    });
    const object = {
      metadata: { name: "web", namespace: "shop" },
      spec: { selector: { matchLabels: { app: "web" } }, template: { spec: { containers: [] } } },
    };
    const found = foundFrom("statefulset", v.parse(Workload, object));
    const code = async () => (server === null ? null : ((await lookAtPods(server.cluster, found)).why?.code ?? null));
    expect(await code()).toBe("kubernetes.not_created");
    created = "2026-01-02T03:34:05Z";
    expect(await code()).toBeNull();
  });

  test("a pod of another version that keeps a StatefulSet from replacing any is named", async () => {
    const pod = (name: string, image: string, status: string) => ({
      metadata: { name, namespace: "shop" },
      spec: { containers: [{ name: "web", image }] },
      status: { conditions: [{ type: "Ready", status }], containerStatuses: [{ name: "web", state: { running: {} } }] },
    });
    server = await startApiServer((_request, response, { pathname }) => {
      const pods = [pod("web-0", "web:1", "True"), pod("web-1", "web:2", "False")];
      json(response, 200, { metadata: {}, items: pathname.endsWith("/pods") ? pods : [] });
    });
    const of = (spec: object, kind: "statefulset" | "deployment" = "statefulset") => {
      const template = { spec: { containers: [{ name: "web", image: "web:1" }] } };
      const object = {
        metadata: { name: "web", namespace: "shop" },
        spec: { selector: { matchLabels: { app: "web" } }, template, ...spec },
      };
      return lookAtPods(server.cluster, foundFrom(kind, v.parse(Workload, object)));
    };
    const why = say("kubernetes.not_ready", { container: "web" });
    const named = say("kubernetes.pod_in_the_way", { pod: "web-1", why });
    expect((await of({})).why).toEqual(named);
    expect((await of({ podManagementPolicy: "OrderedReady" })).why).toEqual(named);
    expect((await of({ podManagementPolicy: "Parallel" })).why).toBeNull();
    expect((await of({}, "deployment")).why).toBeNull();
  });

  test("nothing that may be listed is an error with the namespaces", async () => {
    server = await startApiServer((_request, response) => json(response, 403, forbidden));
    const error = await failure(discoverTargets(server.cluster, ["shop"], null));
    expect(error.said).toEqual(say("kubernetes.nothing_listed", { namespaces: ["shop"] }));
  });

  test("blank namespaces: those that cannot be listed are named", async () => {
    server = await startApiServer((request, response, { pathname }) => {
      if (pathname === "/api/v1/namespaces") {
        json(response, 200, { metadata: {}, items: ["shop", "closed"].map((name) => ({ metadata: { name } })) });
        return;
      }
      let text = "";
      request.on("data", (chunk) => {
        text += chunk;
      });
      request.on("end", () => {
        const { namespace } = v.parse(Asked, JSON.parse(text)).spec.resourceAttributes;
        json(response, 201, { status: { allowed: namespace === "shop" } });
      });
    });
    const { warnings, lacking } = await findMissingRights(server.cluster, []);
    expect(warnings).toEqual([
      { code: "not_listed", message: say("kubernetes.not_listed", { namespaces: ["closed"] }) },
    ]);
    expect(lacking).toEqual([]);
    const named = await findMissingRights(server.cluster, ["shop", "closed"]);
    expect(named.lacking.map(({ namespace }) => namespace)).toContain("closed");
  });

  test.each(["[fd00:ec2::254]", "169.254.169.254", "metadata.google.internal"])(
    "the metadata address %s is not asked",
    async (host) => {
      server = await startApiServer((_request, response) => response.end());
      const access = { ...server.access, server: new URL(`https://${host}/`) };
      const cluster = openCluster(access, { clock: createFakeClock(), signal: new AbortController().signal });
      const error = await failure(cluster.send(({ core }) => core.listNamespace(), Named));
      expect(error.said).toEqual(say("net.destination_blocked", { entry: null }));
      cluster.close();
    },
  );
});

const Asked = v.object({ spec: v.object({ resourceAttributes: v.object({ namespace: v.string() }) }) });

test.each([
  [{ server: "https://[fd00:ec2::254]:6443" }, "fd00:ec2::254"],
  [{ server: "https://Cluster.test/" }, "cluster.test"],
  [{}, null],
  [{ in_cluster: true, server: "https://cluster.test" }, null],
])("the host that %p names is judged", (config, host) => {
  expect(kubernetes.destination?.(config)?.host ?? null).toBe(host);
});

test("connections of one cluster have one place, and those of different kubeconfigs do not", () => {
  const place = (config: object, credential = "a") => kubernetes.place(config, credential);
  expect(place({ server: "https://Cluster.test:443/" })).toBe(place({ server: "https://cluster.test" }, "b"));
  expect(place({ server: "https://cluster.test:6443" })).not.toBe(place({ server: "https://cluster.test" }));
  expect(place({})).not.toBe(place({}, "b"));
  expect(place({ context: "one" })).not.toBe(place({ context: "two" }));
  expect(place({ in_cluster: true })).toBe(place({ in_cluster: true }, "b"));
});

test.each([
  ["ca_certificate", { token: "x" }],
  ["client_certificate", { client_key: pem }],
])("a certificate that is cut off is named: %s", async (member, secret) => {
  const config = v.parse(Config, { server: "https://cluster.test" });
  const error = await failure(accessOf(config, v.parse(Secret, { ...secret, [member]: pem }), undefined));
  expect(error.said).toEqual(say("credentials.certificate_unreadable", { member }));
});
