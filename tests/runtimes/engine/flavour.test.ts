import { describe, expect, test } from "bun:test";
import { dockerFlavour } from "../../../src/runtimes/docker/flavour.ts";
import { engineClient } from "../../../src/runtimes/engine/client.ts";
import { type Flavour, requireFlavour } from "../../../src/runtimes/engine/flavour.ts";
import type { EngineRequest } from "../../../src/runtimes/engine/transport.ts";
import { podmanFlavour } from "../../../src/runtimes/podman/flavour.ts";

const docker = { Version: "20.10.24", ApiVersion: "1.41", Components: [{ Name: "Engine", Version: "20.10.24" }] };
const podmanOf = (version: string) => ({
  Version: version,
  ApiVersion: "1.41",
  Components: [{ Name: "Podman Engine", Version: version, Details: { APIVersion: version } }],
});

describe("requireFlavour()", () => {
  test.each([
    ["Docker as docker", docker, dockerFlavour],
    ["a Docker that names no components", { Version: "18.09", ApiVersion: "1.40" }, dockerFlavour],
    ["Podman as podman", podmanOf("4.3.1"), podmanFlavour],
    ["Podman 5.4", podmanOf("5.4.0"), podmanFlavour],
    ["a candidate of a release", podmanOf("4.0.0-rc5"), podmanFlavour],
  ] as const)("takes %s", (_what, version, flavour) => {
    expect(() => requireFlavour(structuredClone(version), flavour)).not.toThrow();
  });

  test.each([
    ["Podman as docker", podmanOf("4.3.1"), dockerFlavour, 'is Podman 4.3.1, not Docker; choose "Podman"'],
    ["Docker as podman", docker, podmanFlavour, 'is not Podman; choose "Docker Engine"'],
    [
      "Podman 3",
      podmanOf("3.4.4"),
      podmanFlavour,
      "Podman 3.4.4, and the oldest supported version is 4.0.0; update the engine",
    ],
  ] as const)("refuses %s with the type to choose", (_what, version, flavour, sentence) => {
    expect(() => requireFlavour(structuredClone(version), flavour)).toThrow(sentence);
  });
});

/** The requests that a client of this flavour sends, whatever is answered. */
function requestsOf(flavour: Flavour) {
  const requests: EngineRequest[] = [];
  const send = async (request: EngineRequest) => {
    requests.push(request);
    return { status: 201, contentType: "application/json", text: '{"Id":"new"}' };
  };
  const deadlines = { readMs: 1, changeMs: 1, pullIdleMs: 1 };
  return {
    requests,
    client: engineClient({ transport: { send, stream: send }, apiVersion: "1.41", deadlines, flavour }),
  };
}

const body = { Image: "nginx:1", HostConfig: { RestartPolicy: { Name: "always" }, NetworkMode: "front" } };

describe("engineClient()", () => {
  test("makes Docker's containers without a restart policy, by the negotiated API", async () => {
    const { client, requests } = requestsOf(dockerFlavour);
    await client.createContainer("web", body, null);
    expect(requests[0]).toMatchObject({
      path: "/v1.41/containers/create",
      query: { name: "web" },
      body: { Image: "nginx:1", HostConfig: { RestartPolicy: { Name: "no" }, NetworkMode: "front" } },
    });
  });

  test("makes Podman's with their last policy, by Podman's own API, and never changes one", async () => {
    const { client, requests } = requestsOf(podmanFlavour);
    await client.createContainer("web", body, null);
    await client.updateRestartPolicy("web", { Name: "no" });
    expect(requests).toMatchObject([
      {
        path: "/v4.0.0/libpod/containers/create",
        body: { name: "web", image: "nginx:1", restart_policy: "always", netns: { nsmode: "bridge" } },
      },
    ]);
  });

  test.each([
    ["nginx", "nginx:1.27", "/v1.41/images/docker.io/library/nginx:1.27/tag"],
    ["lab/app", "lab/app:2", "/v1.41/images/docker.io/lab/app:2/tag"],
    ["localhost/app", "localhost/app:2", "/v1.41/images/localhost/app:2/tag"],
    ["host:5000/app", "host:5000/app:2", "/v1.41/images/host:5000/app:2/tag"],
  ])("says to Podman in full which image %s is", async (repository, reference, path) => {
    const { client, requests } = requestsOf(podmanFlavour);
    await client.tagImage(reference, repository, "next");
    expect(requests[0]?.path).toBe(path);
    expect(requests[0]?.query?.repo).toMatch(/^(docker\.io\/(library\/nginx|lab\/app)|localhost\/app|host:5000\/app)$/);
  });

  test("asks once for an image that several containers need", async () => {
    const id = "b".repeat(64);
    const asked: string[] = [];
    const send = async ({ path }: EngineRequest) => {
      asked.push(path);
      const answer = path.includes("/images/")
        ? { Id: id, Config: {} }
        : { Id: "a".repeat(64), Name: "web", Image: id, State: {}, Config: {}, HostConfig: {} };
      return { status: 200, contentType: "application/json", text: JSON.stringify(answer) };
    };
    const deadlines = { readMs: 1, changeMs: 1, pullIdleMs: 1 };
    const options = { transport: { send, stream: send }, apiVersion: "1.41", deadlines, flavour: podmanFlavour };
    const client = engineClient(options);
    const found = await Promise.all([client.inspectContainer("one"), client.inspectContainer("two")]);
    expect(found[0]).toMatchObject({ Name: "/web", Image: `sha256:${id}` });
    expect(asked.filter((path) => path.includes("/images/"))).toHaveLength(1);
  });
});
