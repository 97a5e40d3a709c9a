import { describe, expect, test } from "bun:test";
import { type KnownChannel, propose } from "../../src/adoption/propose.ts";
import type { TargetView } from "../../src/connections/schema.ts";
import { plain, toldAs, toldEach } from "../../src/messages/message.ts";
import { digest } from "../support/run-world.ts";

type Partly = Partial<TargetView> & { images?: Readonly<Record<string, string>> };

/** A container, or a group with several images. */
function target(id: string, image: string, more: Partly = {}): TargetView {
  const { images = { main: image }, ...rest } = more;
  return {
    kind: "container",
    ...toldAs("title", plain("Container")),
    is_group: false,
    id,
    name: id,
    namespace: null,
    ...{ owner: null, owner_data: null, condition: null, condition_data: null },
    services: Object.entries(images).map(([name, reference]) => ({
      name,
      containers: [more.is_group === true ? `${id}-${name}` : id],
      ...{ image: reference, image_id: `id-${reference}`, digest: digest("a"), platform: "linux/amd64" },
      state: "running" as const,
    })),
    refusals: [],
    warnings: [],
    labels: {},
    group: null,
    executor: null,
    ...rest,
  };
}

const options = {
  known: [] as readonly KnownChannel[],
  identityOf: (kind: string, config: Readonly<Record<string, unknown>>) => `${kind} ${config.image ?? config.chart}`,
  executors: [] as readonly string[],
  plain: new Set<string>(),
  isIgnored: () => false,
};
const proposed = (targets: readonly TargetView[], more: Partial<typeof options> = {}) =>
  propose(targets, { ...options, ...more });
const trackersOf = (...found: Parameters<typeof proposed>) => [
  ...new Set(proposed(...found).targets.flatMap(({ services }) => services.flatMap(({ tracker }) => tracker ?? []))),
];
const ruleOf = (image: string) => trackersOf([target("web", image)])[0]?.sources[0]?.channels[0];

describe("propose()", () => {
  test("ten containers of one image share a tracker and have an executor each", () => {
    const ten = Array.from({ length: 10 }, (_, place) => target(`web-${place}`, `nginx:1.27.${place}-alpine`));
    expect(trackersOf(ten)).toHaveLength(1);
    expect(proposed(ten).targets.map(({ executor_name }) => executor_name)).toEqual(ten.map(({ id }) => id));
  });

  test("another line, variant or codename has its own tracker, named after it", () => {
    const targets = ["postgres:16", "postgres:15", "postgres:16-alpine", "debian:bookworm"].map((image, place) =>
      target(`db-${place}`, image),
    );
    expect(trackersOf(targets).map(({ name }) => name)).toEqual([
      "postgres-16",
      "postgres-15",
      "postgres-16-alpine",
      "debian",
    ]);
  });

  test.each([
    ["nginx:1.27.3-alpine", "1.28.0-alpine", "1.28.0"],
    ["postgres:16-bookworm", "16-bookworm", "17-bookworm"],
    ["mariadb:11.4", "11.4.5", "11.5.1"],
  ])("%s stays with %s and never takes %s", (image, _kept, left) => {
    const pattern = new RegExp(ruleOf(image)?.include_pattern ?? "");
    expect(pattern.test(left)).toBe(false);
  });

  test.each([
    ["grafana/grafana:10.1.0", ["10", "10.1"], false],
    ["acme/shop:v1.0.0-alpine", ["1", "1.0"], false],
    ["redis:7.2.4", ["7.2"], false],
    ["mysql:8.0.35", [], false],
    ["redis:7", [], true],
    ["nginx:1.27-alpine", [], true],
    [`redis:7@${digest("b")}`, [], false],
    ["acme/app:2025.1.30", [], false],
    ["acme/app:2.0.0-rc1", [], false],
    ["nginx:latest", [], false],
    ["jenkins:4211", [], false],
  ])("%s could stay on %j instead; it names a line: %p", (image, lines, names_line) => {
    const [service] = proposed([target("web", image)]).targets[0]?.services ?? [];
    expect([service?.lines, service?.names_line]).toEqual([lines, names_line]);
  });

  test("a chosen line is followed by a tracker of its own, which keeps the variant; the others are as before", () => {
    const two = ["a", "b"].map((id) => target(id, "acme/shop:1.4.0-alpine"));
    const found = trackersOf(two, { lineOf: ({ id }: { id: string }) => (id === "a" ? "1.4" : null) } as never);
    expect(found.map(({ name, line }) => [name, line])).toEqual([
      ["shop-1.4-alpine", "1.4"],
      ["shop-alpine", null],
    ]);
    const pattern = new RegExp(found[0]?.sources[0]?.channels[0]?.include_pattern ?? "");
    const taken = ["1.4.9-alpine", "1.5.0-alpine", "1.4.9", "2.0.0-alpine"].filter((tag) => pattern.test(tag));
    expect(taken).toEqual(["1.4.9-alpine"]);
  });

  test("a project is one executor with all its services; its containers are not offered beside it", () => {
    const images = { web: "acme/web:1.0.0", db: "postgres:16.4" };
    const shop = target("shop", "", { kind: "compose", is_group: true, images });
    const parts = Object.entries(images).map(([name, image]) => target(`shop-${name}`, image, { group: "shop" }));
    const { targets } = proposed([shop, ...parts]);
    expect(targets.map(({ target: { id }, services }) => [id, services.map(({ name }) => name)])).toEqual([
      ["shop", ["web", "db"]],
    ]);
  });

  test("a service of a project that cannot be followed is left alone, with the reason", () => {
    const images = { web: "acme/web:1.0.0", own: "shop-own:latest", sealed: "acme/sealed:1.0" };
    const shop = target("shop", "", { kind: "compose", is_group: true, images });
    const [, own] = shop.services;
    if (own !== undefined) own.digest = null;
    const refusals = toldEach([{ code: "own_container", message: plain("This is Tidemark") }]);
    const sealed = target("shop-sealed", "acme/sealed:1.0", { group: "shop", refusals });
    const [found] = proposed([shop, sealed]).targets;
    expect(found?.services.map(({ reason }) => reason?.code ?? null)).toEqual([null, "local_image", "own_container"]);
  });

  test.each([
    ["a local image", target("a", "built:latest"), "local_image"],
    ["a digest alone", target("b", `acme/app@${digest("b")}`), "digest_only"],
    ["an image id", target("c", "f".repeat(64)), "no_image"],
    [
      "what the runtime refuses",
      target("d", "a:1", { refusals: toldEach([{ code: "systemd", message: plain("systemd owns it") }]) }),
      "systemd",
    ],
    ["a target without services", target("e", "", { images: {} }), "nothing_to_follow"],
  ])("refuses %s", (_name, found, code) => {
    if (code === "local_image") for (const service of found.services) service.digest = null;
    const { targets, refused } = proposed([found]);
    expect(targets).toEqual([]);
    expect(refused.map(({ reasons }) => reasons[0]?.code)).toEqual([code]);
  });

  test("what has an executor, and what is ignored, is not offered", () => {
    const has = target("a", "nginx:1.27", { executor: { id: "x", name: "a" } });
    const { targets, refused, adopted } = proposed([has, target("b", "nginx:1.26")], {
      isIgnored: () => true,
    });
    expect([targets, refused, adopted.map(({ id }) => id)]).toEqual([[], [], ["a"]]);
  });

  test("uses a tracker again that has exactly these rules, and no other", () => {
    const known = (include_pattern: string): KnownChannel => ({
      ...{
        tracker: "proxy",
        source: "image",
        source_id: "s",
        channel: "stable",
        type: "stable",
        kind: "oci",
        config: {},
      },
      ...{ identity: "oci nginx", include_pattern, exclude_pattern: "", latest: null },
    });
    const rule = ruleOf("nginx:1.27.3-alpine")?.include_pattern ?? "";
    const same = trackersOf([target("a", "nginx:1.27.3-alpine")], { known: [known(rule)] });
    expect(same.map(({ name, sources }) => [name, sources])).toEqual([["proxy", []]]);
    const other = trackersOf([target("a", "nginx:1.27.3-alpine")], { known: [known("")] });
    expect(other.map(({ name, existing }) => [name, existing])).toEqual([["nginx", null]]);
  });

  test("names are free: of other trackers and executors, of each other, and valid whatever a target is called", () => {
    const known: KnownChannel = {
      ...{
        tracker: "nginx",
        source: "image",
        source_id: "s",
        channel: "stable",
        type: "stable",
        kind: "oci",
        config: {},
      },
      ...{ identity: "oci other", include_pattern: "", exclude_pattern: "", latest: null },
    };
    const hostile = "<b>\u0000\n".repeat(60);
    const found = proposed([target("web", "nginx:1.27"), target("x", "a/nginx:1.0.0", { name: hostile })], {
      known: [known],
      executors: ["WEB"],
    });
    const names = found.targets.map(({ executor_name }) => executor_name);
    expect(names[0]).toBe("web-2");
    expect(names[1]).not.toMatch(/\p{Cc}/u);
    expect(names[1]?.length).toBeLessThanOrEqual(100);
    const trackers = found.targets.flatMap(({ services }) => services.flatMap(({ tracker }) => tracker?.name ?? []));
    expect(new Set([...trackers, "nginx"]).size).toBe(3);
  });

  test("a moving name of an image that keeps data waits for a decision", () => {
    const [first] = proposed([target("db", "postgres:latest")]).targets;
    expect(first?.is_ready).toBe(false);
  });

  test("a chart is followed by the one tracker that has it; without one the reason says what to do", () => {
    const release = target("media/jellyfin", "", { kind: "helm_release", images: { release: "jellyfin-2.0.0" } });
    for (const service of release.services) {
      service.artifact = {
        ...{ kind: "chart", reference: "jellyfin-2.0.0", digest: null, name: "jellyfin", version: "2.0.0" },
        app_version: "10.9",
      };
    }
    const known = (tracker: string): KnownChannel => ({
      ...{ tracker, source: "chart", source_id: "s", channel: "stable", type: "stable", kind: "helm" },
      ...{ config: { chart: "jellyfin" }, identity: "helm jellyfin", include_pattern: "", exclude_pattern: "" },
      latest: "2.1.0",
    });
    const codes = (...trackers: string[]) =>
      proposed([release], { known: trackers.map(known) }).refused.map(({ reasons }) => reasons[0]?.code);
    expect([codes(), codes("a", "b"), codes("a")]).toEqual([["chart_unknown"], ["chart_ambiguous"], []]);
    expect(trackersOf([release], { known: [known("media")] }).map(({ name }) => name)).toEqual(["media"]);
  });

  test("the hash changes with what was shown, and not with the rest", () => {
    const hash = (found: TargetView) => proposed([found]).targets[0]?.hash;
    const before = hash(target("web", "nginx:1.27.3"));
    expect(hash(target("web", "nginx:1.27.3", { warnings: toldEach([{ code: "x", message: plain("y") }]) }))).toBe(
      before,
    );
    expect(hash(target("web", "nginx:1.27.4"))).not.toBe(before);
    expect(
      hash(target("web", "nginx:1.27.3", { labels: { "org.opencontainers.image.source": "https://github.com/a/b" } })),
    ).not.toBe(before);
  });

  test("an image that the engine pulls over plain HTTP is looked up the same way", () => {
    const image = "127.0.0.1:5000/acme/web:1.0.0";
    const [tracker] = trackersOf([target("web", image)], { plain: new Set([image]) });
    expect(tracker?.sources[0]?.config).toEqual({ image: "http://127.0.0.1:5000/acme/web" });
    expect([tracker?.name, tracker?.watches]).toEqual(["web", "127.0.0.1:5000/acme/web"]);
  });

  test("three hundred containers with long names take no notable time", () => {
    const many = Array.from({ length: 300 }, (_, place) =>
      target(`${"long-".repeat(40)}${place}`, `registry.example/team/app-${place % 60}:2.${place % 7}.0`),
    );
    expect(proposed(many).targets).toHaveLength(300);
    expect(trackersOf(many)).toHaveLength(60);
  });
});
