import { describe, expect, test } from "bun:test";
import { dockerFlavour } from "../../../src/runtimes/docker/flavour.ts";
import { engineClient } from "../../../src/runtimes/engine/client.ts";
import { completeContainer } from "../../../src/runtimes/engine/complete.ts";
import type { RawObject } from "../../../src/runtimes/engine/raw.ts";
import type { EngineTransport } from "../../../src/runtimes/engine/transport.ts";
import { english } from "../../support/english.ts";
import { containerInspect } from "./inspect.ts";

/** A client whose engine answers by the version in the path, and what it was asked. */
function clientOf(
  negotiated: string,
  engineApi: { min: string; max: string },
  answers: Readonly<Record<string, RawObject>>,
) {
  const asked: string[] = [];
  const transport: EngineTransport = {
    send: async ({ path }) => {
      const version = path.split("/")[1] ?? "";
      asked.push(version);
      return {
        status: 200,
        contentType: "application/json",
        text: JSON.stringify(containerInspect(answers[version] ?? {})),
      };
    },
    stream: () => Promise.reject(new Error("Nothing is streamed here")),
  };
  const deadlines = { readMs: 1, changeMs: 1, pullIdleMs: 1 };
  return {
    asked,
    client: engineClient({ flavour: dockerFlavour, transport, apiVersion: negotiated, deadlines, engineApi }),
  };
}

describe("completeContainer()", () => {
  const mac = "02:42:aa:bb:cc:dd";

  test("asks an older version for the MAC address that was chosen, where the negotiated one hides it", async () => {
    const { client, asked } = clientOf(
      "1.56",
      { min: "1.40", max: "1.56" },
      { "v1.51": { Config: { MacAddress: mac } } },
    );
    expect((await completeContainer(client, containerInspect())).Config.MacAddress).toBe(mac);
    expect(asked).toEqual(["v1.51"]);
  });

  test("says with an empty one that none was chosen", async () => {
    const { client } = clientOf("1.56", { min: "1.40", max: "1.56" }, {});
    expect((await completeContainer(client, containerInspect())).Config.MacAddress).toBe("");
  });

  test.each([
    ["a version that shows it", "1.51", { min: "1.40", max: "1.51" }, {}],
    ["an engine that no longer speaks the older version", "1.56", { min: "1.52", max: "1.56" }, {}],
    [
      "one in another's network",
      "1.56",
      { min: "1.40", max: "1.56" },
      { HostConfig: { NetworkMode: "container:abc" } },
    ],
  ])("asks nothing more of %s", async (_what, negotiated, engineApi, change) => {
    const { client, asked } = clientOf(negotiated, engineApi, {});
    const container = containerInspect(change);
    expect(await completeContainer(client, container)).toEqual(container);
    expect(asked).toEqual([]);
  });

  test("refuses by name what only a newer version shows, and nothing that says nothing", async () => {
    const newest = { HostConfig: { Umask: 18, Later: null, Zero: 0 }, Config: { Newer: ["x"] } };
    const { client } = clientOf("1.41", { min: "1.24", max: "1.56" }, { "v1.56": newest });
    const { Refusals: refusals } = await completeContainer(client, containerInspect());
    expect(refusals).toMatchObject([{ code: "hidden_settings" }]);
    expect(english(refusals?.[0]?.message)).toContain("Config.Newer, HostConfig.Umask;");
  });
});
