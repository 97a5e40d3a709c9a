import { describe, expect, test } from "bun:test";
import { sceneOf } from "../../../src/runtimes/engine/container-plan.ts";
import { describeTarget } from "../../../src/runtimes/engine/discover.ts";
import { targetIn } from "../../../src/runtimes/engine/group/target.ts";
import { containerInspect, imageInspect } from "./inspect.ts";

const image = imageInspect({ Id: `sha256:${"cafe".repeat(16)}` });
const source = {
  apiVersion: "1.41",
  engine_platform: "linux/amd64",
  self: { hostname: "build-host", data_dir: "/srv/tidemark" },
  address: { kind: "unix" as const, path: "/var/run/docker.sock" },
};

/** The image of a container that was made from an image by this text. */
async function imageOf(reference: string): Promise<string | undefined> {
  const container = containerInspect({ Image: image.Id, Config: { Image: reference } });
  const all = [container];
  const survey = { all, sceneOf: async () => sceneOf(source, all, container, image) };
  const target = await describeTarget(targetIn(survey, { kind: "container", id: "web" }));
  return target.services[0]?.artifact.reference;
}

describe("describeTarget()", () => {
  test.each([["cafecafecafe"], ["cafe"], ["cafe".repeat(16)], ["sha256:cafecafe"], [image.Id]])(
    "of a container that was made from %s tells the image's whole id, which is no name",
    async (reference) => {
      expect(await imageOf(reference)).toBe(image.Id);
    },
  );

  test("of a project warns once of its compose file, however many services it has", async () => {
    const all = ["web", "db"].map((service, place) =>
      containerInspect({
        ...{ Id: `${place}`.repeat(64), Name: `/${service}`, Image: image.Id },
        Config: {
          Labels: {
            "com.docker.compose.project": "shop",
            "com.docker.compose.service": service,
            "com.docker.compose.container-number": "1",
          },
        },
      }),
    );
    const survey = { all, sceneOf: async (each: (typeof all)[number]) => sceneOf(source, all, each, image) };
    const { warnings } = await describeTarget(targetIn(survey, { kind: "compose", id: "shop" }));
    expect(warnings.filter(({ code }) => code === "compose_file").map(({ message }) => message.code)).toEqual([
      "refusals.compose_file",
    ]);
  });

  test.each([["cafe:latest"], ["registry.test/cafe"], ["beef"], ["caf"], ["cafe/app"]])(
    "takes %s for the name that it is",
    async (reference) => {
      expect(await imageOf(reference)).toBe(reference);
    },
  );
});
