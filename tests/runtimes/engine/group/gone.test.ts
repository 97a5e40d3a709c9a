import { describe, expect, test } from "bun:test";
import { withNetworksNow } from "../../../../src/runtimes/engine/group/gone.ts";
import { containerInspect, imageInspect } from "../inspect.ts";

describe("withNetworksNow()", () => {
  const Networks = { back: { NetworkID: "old", Aliases: ["db"] }, front: { NetworkID: "same" }, none: null };
  const member = {
    name: "web",
    service: "web",
    role: "target" as const,
    container: containerInspect({ NetworkSettings: { Networks: { bridge: { NetworkID: "n1" }, ...Networks } } }),
    image: imageInspect(),
    inherited: [],
    files: null,
  };

  test("forgets the ids of networks that have another one now, and nothing else of them", async () => {
    const hasNetwork = async (id: string) => id !== "old" && id !== "n1";
    const { container } = await withNetworksNow({ hasNetwork }, member);
    expect(container.NetworkSettings?.Networks).toMatchObject({
      bridge: { NetworkID: "" },
      back: { NetworkID: "", Aliases: ["db"] },
      front: { NetworkID: "same" },
      none: null,
    });
    expect({ ...container, NetworkSettings: null }).toEqual({ ...member.container, NetworkSettings: null });
  });

  test("keeps them where the engine cannot be asked", async () => {
    expect(await withNetworksNow({ hasNetwork: async () => null }, member)).toEqual(member);
  });
});
