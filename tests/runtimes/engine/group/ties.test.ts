import { describe, expect, test } from "bun:test";
import type { Blueprint } from "../../../../src/runtimes/engine/carry.ts";
import { arrange } from "../../../../src/runtimes/engine/group/target-plan.ts";
import { becauseOf, ownersIn, rebased, tiesTo, withNames } from "../../../../src/runtimes/engine/group/ties.ts";
import { containerInspect } from "../inspect.ts";

const [oldId, newId, otherId] = ["1a".repeat(32), "9f".repeat(32), "5c".repeat(32)] as const;
const database = containerInspect({ Id: oldId, Name: "/db" });
const cache = containerInspect({ Id: otherId, Name: "/cache" });
/** As Podman tells `--requires db,cache`: by ids, in no order of anybody's. */
const web = containerInspect({
  Id: "77".repeat(32),
  Name: "/web",
  HostConfig: { Dependencies: [oldId, otherId] },
});

describe("a container that requires another one", () => {
  test("is made anew with it", () => {
    expect(tiesTo(web, database)).toEqual(["requirement"]);
    expect(becauseOf(web, database)).toBe("shares");
    expect(tiesTo(database, web)).toEqual([]);
  });

  test("comes after it, and goes down by itself", () => {
    const all = [web, cache, database].map((container) => ({ item: container.Name, containers: [container] }));
    expect(arrange(all)).toMatchObject({
      order: ["/cache", "/db", "/web"],
      clusters: [["/cache"], ["/db"], ["/web"]],
      refusals: [],
    });
  });

  test("cannot be ordered when each requires the other", () => {
    const back = containerInspect({ Id: oldId, Name: "/db", HostConfig: { Dependencies: [web.Id] } });
    const all = [web, back].map((container) => ({ item: container.Name, containers: [container] }));
    expect(arrange(all).refusals.map(({ code }) => code)).toEqual(["dependency_cycle"]);
  });

  test("is led to the successor, whose id may come at another place of the list", () => {
    const blueprint: Blueprint = {
      config: {},
      host_config: web.HostConfig,
      attachments: [],
      mounts: [],
      image_id: "",
      image_volumes: [],
      restart_policy: {},
    };
    const led = rebased(blueprint, (reference) => {
      return reference === oldId ? { successor: { id: newId, name: "db-next" }, is_by_id: true } : null;
    });
    expect(led.host_config.Dependencies).toEqual([otherId, newId]);
    expect(web.HostConfig.Dependencies).toEqual([oldId, otherId]);
  });

  test("is the same one after the required one was made anew", () => {
    const nameOfId = (id: string) => (id === otherId ? "cache" : "db");
    const moved = { ...web.HostConfig, Dependencies: [otherId, newId] };
    expect(withNames(moved, nameOfId)).toEqual(withNames(web.HostConfig, nameOfId));
  });

  test("names them all in one place", () => {
    expect(ownersIn(web.HostConfig)).toEqual([
      { place: "Dependencies", reference: oldId },
      { place: "Dependencies", reference: otherId },
    ]);
  });
});
