import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { AppError } from "../../src/errors.ts";
import { plain, say, told } from "../../src/messages/message.ts";
import { createWorld, digest, type World } from "../support/run-world.ts";

const live = new AbortController().signal;
let world: World;
beforeEach(async () => {
  world = await createWorld();
  const { engine } = world;
  engine.add("shop-web-1", "registry.test/app:1.0", digest("a"), { project: "shop", service: "web" });
  engine.add("shop-worker-1", "registry.test/app:1.0", digest("a"), {
    project: "shop",
    service: "worker",
    shares: "web",
  });
  engine.add("shop-db-1", "registry.test/db:9", digest("9"), { project: "shop", service: "db" });
});
afterEach(() => world.close());

const bind = (service: string) => ({ service, tracker: "app", source: "main", channel: "stable" });
const group = (...services: string[]) => ({
  name: "shop",
  connection_id: world.connectionId,
  target: { kind: "compose", id: "shop" },
  bindings: services.map(bind),
  trigger: "manual",
});
const single = (id: string) => ({ ...group("main"), name: id, target: { kind: "container", id } });

async function refused(work: Promise<unknown>) {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AppError)) throw new Error(`Not refused: ${String(error)}`);
  return { status: error.status, code: error.code, fields: error.field_messages };
}

describe("binding services of a group", () => {
  test("takes some of them and shows the others as bound to nothing", async () => {
    const { id } = await world.main.executors.create(systemActor, group("web", "worker"));
    await world.tick();
    const view = await world.main.executors.get(id);
    expect(view.services.map((each) => [each.service, each.difference])).toEqual([
      ["web", "other_version"],
      ["worker", "other_version"],
    ]);
    expect(view.unbound.map((each) => each.name)).toEqual(["db"]);
    expect(view.state).toBe("update");
  });

  test("refuses a service that the group does not have, at its field, with those it has", async () => {
    expect(await refused(world.main.executors.create(systemActor, group("web", "wrokr")))).toEqual({
      status: 422,
      code: "invalid_input",
      fields: {
        "bindings.1.service": say("executors.no_such_service", {
          target: "shop",
          service: "wrokr",
          services: ["web", "worker", "db"],
        }),
      },
    });
  });

  test("a bound service that is gone for now keeps no edit from being stored; nobody binds it anew", async () => {
    const { id } = await world.main.executors.create(systemActor, group("web", "worker"));
    world.engine.containers.delete("shop-worker-1");
    const kept = await world.main.executors.update(systemActor, id, { bindings: [bind("web"), bind("worker")] });
    expect(kept.bindings).toHaveLength(2);
    await world.main.executors.update(systemActor, id, { bindings: [bind("web")] });
    const again = world.main.executors.update(systemActor, id, { bindings: [bind("web"), bind("worker")] });
    expect((await refused(again)).fields).toHaveProperty(["bindings.1.service"]);
  });

  test("stores what nobody can look at", async () => {
    world.engine.isUnreachable = true;
    expect((await world.main.executors.create(systemActor, group("anything"))).bindings).toHaveLength(1);
  });
});

describe("a group and one of its containers", () => {
  test("the container is refused while the group has an executor", async () => {
    await world.main.executors.create(systemActor, group("web"));
    const message = say("executors.target_in_group", { target: "shop-db-1", group: "shop", executor: "shop" });
    expect(await refused(world.main.executors.create(systemActor, single("shop-db-1")))).toEqual({
      status: 409,
      code: "in_use",
      fields: { "target.id": message },
    });
    expect((await world.main.executors.create(systemActor, single("web"))).name).toBe("web");
  });

  test("the group is refused while one of its containers has an executor", async () => {
    await world.main.executors.create(systemActor, single("shop-db-1"));
    expect(await refused(world.main.executors.create(systemActor, group("web")))).toEqual({
      status: 409,
      code: "in_use",
      fields: {
        "target.id": say("executors.container_has_executor", {
          container: "shop-db-1",
          group: "shop",
          executor: "shop-db-1",
        }),
      },
    });
  });

  test("an edit that leads there is refused too, and one that stays where it is is not", async () => {
    await world.main.executors.create(systemActor, group("web"));
    const { id } = await world.main.executors.create(systemActor, single("web"));
    const moved = world.main.executors.update(systemActor, id, { target: { kind: "container", id: "shop-web-1" } });
    expect((await refused(moved)).code).toBe("in_use");
    expect((await world.main.executors.update(systemActor, id, { target: single("web").target })).target.id).toBe(
      "web",
    );
  });

  test("what was seen last counts while the runtime does not answer", async () => {
    await world.main.executors.create(systemActor, group("web"));
    await world.tick();
    world.engine.isUnreachable = true;
    expect((await refused(world.main.executors.create(systemActor, single("shop-db-1")))).code).toBe("in_use");
  });

  test("discovery tells the group of a container, and whose both are", async () => {
    const { id } = await world.main.executors.create(systemActor, group("web"));
    const { items } = await world.main.connections.targets(world.connectionId, live);
    expect(items.map((each) => [each.kind, each.id, each.group, each.executor?.id ?? null])).toEqual([
      ["compose", "shop", null, id],
      ["container", "web", null, null],
      ["container", "shop-web-1", "shop", id],
      ["container", "shop-worker-1", "shop", id],
      ["container", "shop-db-1", "shop", id],
    ]);
  });
});

describe("plan() of a group", () => {
  test("names every container that is replaced and why, the order, and the files that stay behind", async () => {
    const file = {
      service: "web",
      path: "/srv/shop/compose.yaml",
      patch: "image: registry.test/app:1.1",
      is_readable: true,
      message: plain("A later up goes back"),
    };
    world.engine.files = [file];
    const { id } = await world.main.executors.create(systemActor, { ...group("web"), start_first: true });
    const { plan, unbound } = await world.main.executors.plan(id, live);
    expect(plan?.containers).toEqual([
      { name: "shop-web-1", service: "web", because: "desired", is_running: true },
      { name: "shop-worker-1", service: "worker", because: "shares", is_running: true },
    ]);
    expect(plan?.order).toBe("start_first");
    expect(plan?.files).toEqual([{ ...file, ...told(file.message) }]);
    expect(unbound.map((each) => each.name)).toEqual(["worker", "db"]);
  });
});

test("a run moves all bound services at once, and then the group is current", async () => {
  const { id } = await world.main.executors.create(systemActor, group("web", "worker"));
  const run = await world.update(id);
  expect(run.state).toBe("succeeded");
  expect(world.engine.get("shop-worker-1").image).toBe("registry.test/app:1.1");
  expect(world.engine.get("shop-db-1").image).toBe("registry.test/db:9");
  await world.tick();
  expect((await world.main.executors.get(id)).state).toBe("current");
});
