import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { PluginError } from "../../../src/errors.ts";
import { inEnglish } from "../../../src/messages/message.ts";
import type { Change } from "../../../src/runtimes/plan.ts";
import { portainer } from "../../../src/runtimes/portainer/index.ts";
import type { RuntimeSession } from "../../../src/runtimes/session.ts";
import { durableJournal } from "../../support/durable-journal.ts";
import { fastClock } from "../../support/fast-clock.ts";
import { memoryJournal } from "../../support/memory-journal.ts";
import { imageIds, key, type RecordedPortainer, recordedPortainer } from "./recorded-portainer.ts";

const file = `services:
  web: {image: "acme/web:1.0.0", environment: {TOKEN: s3cret-in-the-file}}
  db:
    image: acme/db:\${DB_TAG}
`;
const ref = { kind: "stack", id: "shop" } as const;
const live = new AbortController().signal;
let recorded: RecordedPortainer;
let session: RuntimeSession;

beforeEach(async () => {
  recorded = recordedPortainer(file, [
    { service: "web", image: "acme/web:1.0.0" },
    { service: "db", image: "acme/db:16.1" },
  ]);
  recorded.world.stack.Env = [
    { name: "DB_TAG", value: "16.1" },
    { name: "DB_PASSWORD", value: "s3cret-in-the-environment" },
  ];
  session = await open();
});
afterEach(async () => {
  await session[Symbol.asyncDispose]();
  await recorded[Symbol.asyncDispose]();
});

/** Its requests are real, and end within 30 s of the clock: much faster, a busy machine would miss that. */
const open = (self = "elsewhere", clock = fastClock(20), update_stall_seconds = 10) =>
  portainer.open(
    { url: recorded.url, endpoint_id: 1, update_stall_seconds },
    { api_key: key },
    {
      ...{ signal: live, clock, self: { hostname: self, data_dir: "/nowhere" } },
      fetch: () => Promise.reject(new Error("Not asked for")),
    },
  );
const change = (service: string, reference: string, digest: string | null = null): Change => ({
  ...{ kind: "image", service, reference, digest, image_config: null },
});
const update = change("web", "acme/web:1.1.0");
const puts = () => recorded.requests.filter(({ line }) => line.startsWith("PUT "));
const json = (status: number, value: unknown) => () => Response.json(value, { status });
const failure = async (work: Promise<unknown>): Promise<PluginError> => {
  const error = await work.then(
    () => null,
    (fault: unknown) => fault,
  );
  if (!(error instanceof PluginError)) throw new Error(`It did not fail as a plug-in does: ${error}`);
  expect(error.message).not.toContain(key);
  return error;
};

describe("a plan", () => {
  test("names the images that change and keeps every secret to itself", async () => {
    const plan = await session.plan(ref, [update, change("db", "acme/db:16.2")]);
    expect(plan.diff.map(({ service, before, after }) => [service, before, after])).toEqual([
      ["db", "acme/db:16.1", "acme/db:16.2"],
      ["web", "acme/web:1.0.0", "acme/web:1.1.0"],
    ]);
    // A line with more than the image is shown without the rest of it.
    expect(plan.files.map(({ service, patch }) => [service, patch.split("\n").slice(-3, -1)])).toEqual([
      ["web", ["-…acme/web:1.0.0…", "+…acme/web:1.1.0…"]],
      ["db", ["-DB_TAG=16.1", "+DB_TAG=16.2"]],
    ]);
    expect(JSON.stringify(plan)).not.toContain("s3cret");
    expect(JSON.stringify(await session.discover())).not.toContain("s3cret");
  });

  test("changes its hash with the file, the environment and what runs, and with nothing else", async () => {
    const hash = async () => (await session.plan(ref, [update])).hash;
    const first = await hash();
    expect(await hash()).toBe(first);
    recorded.world.file = `${file}# a word\n`;
    const edited = await hash();
    recorded.world.file = file;
    recorded.world.stack.Env = [{ name: "DB_TAG", value: "16.1" }];
    const other = await hash();
    recorded.world.stack.Env = null;
    recorded.world.containers = [{ service: "web", image: "acme/web:1.0.0", id: imageIds.next }];
    expect(new Set([first, edited, other, await hash()]).size).toBe(4);
  });

  test("has nothing to do for what runs and stands in the file already", async () => {
    expect(await session.plan(ref, [change("web", "acme/web:1.0.0")])).toMatchObject({ is_noop: true, diff: [] });
    recorded.world.containers = [{ service: "web", image: "acme/web:0.9.0" }];
    expect(await session.plan(ref, [change("web", "acme/web:1.0.0")])).toMatchObject({ is_noop: false });
  });

  test("refuses what cannot be edited, and a service that the file does not have", async () => {
    recorded.world.file = "services: {web: {build: .}}\n";
    expect((await session.plan(ref, [update])).refusals.map(({ code }) => code)).toEqual(["not_editable"]);
    expect((await failure(session.plan(ref, [change("cache", "redis:8")]))).said.code).toBe(
      "portainer.service_missing",
    );
    recorded.world.file = "services: [\n";
    expect((await session.plan(ref, [update])).refusals.map(({ code }) => code)).toEqual(["file"]);
  });
});

describe("a stack", () => {
  test.each([
    [{ Type: 1 }, "swarm"],
    [{ Type: 3 }, "kubernetes"],
    [{ Type: 9 }, "unknown_type"],
    [{ GitConfig: { URL: "https://git.example" } }, "git"],
    [{ Status: 2 }, "stopped"],
    [{ Status: 3 }, "deploying"],
    [{ AdditionalFiles: ["override.yml"] }, "further_files"],
  ] as const)("with %p is refused as %s, by name and before any request", async (record, code) => {
    Object.assign(recorded.world.stack, record);
    expect((await session.inspect(ref)).refusals.map((each) => each.code)).toEqual([code]);
    expect((await session.plan(ref, [update])).refusals.map((each) => each.code)).toEqual([code]);
    expect(puts()).toEqual([]);
  });

  test("whose last deployment failed can be updated", async () => {
    Object.assign(recorded.world.stack, { Status: 4 });
    expect((await session.plan(ref, [update])).refusals).toEqual([]);
  });

  test("whose file Portainer cannot give is refused, and hides no other stack", async () => {
    const other = { ...recorded.world.stack, Id: 4, Name: "broken" };
    recorded.answer = (line) => {
      if (line === "GET /api/stacks") return json(200, [recorded.world.stack, other])();
      if (line === "GET /api/stacks/4") return json(200, other)();
      if (line !== "GET /api/stacks/4/file") return null;
      return json(500, { message: "Unable to retrieve stack file", details: "no such file or directory" })();
    };
    const found = await session.discover();
    expect(found.flatMap(({ refusals }) => refusals.map(({ message }) => inEnglish(message))).join()).toContain(
      "no such file or directory",
    );
    expect(found.map(({ name, refusals }) => [name, refusals.map(({ code }) => code)])).toEqual([
      ["broken", ["file"]],
      ["shop", []],
    ]);
    expect((await failure(session.inspect({ kind: "stack", id: "broken" }))).said.code).toBe("portainer.refused");
  });

  test("that contains Tidemark or Portainer is refused", async () => {
    await using own = await open("0".repeat(12));
    expect((await own.inspect(ref)).refusals.map(({ code }) => code)).toEqual(["own_container"]);
    recorded.world.containers = [{ service: "web", image: "portainer/portainer-ce:2.23.0" }];
    expect((await session.inspect(ref)).refusals.map(({ code }) => code)).toEqual(["portainer_itself"]);
  });

  test("that is gone is not found", async () => {
    expect((await failure(session.inspect({ kind: "stack", id: "other" }))).code).toBe("not_found");
    recorded.world.stack.EndpointId = 2;
    expect(await session.discover()).toEqual([]);
  });
});

describe("Portainer", () => {
  test.each<[number, unknown, PluginError["code"], string]>([
    [401, { message: "Invalid JWT token", details: "Invalid JWT token" }, "unauthorized", "portainer.unauthenticated"],
    [403, { message: "Access denied to resource", details: "" }, "unauthorized", "portainer.refused"],
    [404, { message: "Unable to find", details: "object not found" }, "not_found", "portainer.refused"],
    [500, { message: "Unable to proxy the request", details: "no such host" }, "unreachable", "portainer.refused"],
    [502, "<html>", "unreachable", "portainer.not_portainer"],
    [404, "404 page not found", "unreachable", "portainer.not_portainer"],
    [200, { stacks: [] }, "malformed", "net.unexpected_json"],
    [200, [{ Id: "three", Name: "shop" }], "malformed", "net.unexpected_json"],
  ])("that answers %i %p fails as %s", async (status, value, code, said) => {
    recorded.answer = (line) => (line === "GET /api/stacks" ? json(status, value)() : null);
    const error = await failure(session.inspect(ref));
    expect([error.code, error.said.code]).toEqual([code, said]);
  });

  test("that redirects is not followed with the key", async () => {
    await using other = recordedPortainer(file, []);
    const location = `${other.url}/api/stacks`;
    recorded.answer = () => new Response(null, { status: 307, headers: { location } });
    expect((await failure(session.describe())).said.code).toBe("portainer.redirected");
    expect(other.requests).toEqual([]);
  });

  test("that sends without end, or nothing at all, is given up", async () => {
    recorded.answer = () => new Response(new Uint8Array(33 * 1024 * 1024));
    await using patient = await open("elsewhere", fastClock(1));
    expect((await failure(patient.inspect(ref))).code).toBe("malformed");
    recorded.answer = () => new Promise(() => undefined);
    expect((await failure(session.inspect(ref))).said.code).toBe("net.timed_out");
  });

  test("that names a container by a path is not asked for it", async () => {
    recorded.answer = (line) =>
      line.endsWith("/containers/json") ? json(200, [{ Id: "../../../users/1", Labels: {} }])() : null;
    expect((await failure(session.inspect(ref))).said.code).toBe("portainer.odd_id");
  });

  test("is described with its version, its environments, and the rights of the key", async () => {
    expect(await session.describe()).toMatchObject({ version: "2.23.0", platform: "linux/amd64", warnings: [] });
    recorded.answer = (line) => {
      if (line === "GET /api/system/status") return new Response("404 page not found\n", { status: 404 });
      if (line === "GET /api/status") return json(200, { Version: "2.9.0" })();
      return line === "GET /api/endpoints/1" ? json(200, { Id: 1, Name: "k8s", Type: 5 })() : null;
    };
    expect((await failure(session.describe())).said.code).toBe("portainer.not_docker");
  });
});

describe("an update", () => {
  const start = async (plan = session.plan(ref, [update])) => {
    const journal = memoryJournal();
    const { apply } = await session.prepare(await plan, [], journal);
    return { journal, apply };
  };
  /** What Portainer does with an update that it carries out. */
  const carryOut = () => {
    const { stackFileContent, env } = JSON.parse(puts().at(-1)?.body ?? "");
    Object.assign(recorded.world.stack, { Env: env, UpdateDate: 1_700_000_000 + puts().length });
    recorded.world.file = stackFileContent;
    const image = stackFileContent.includes("1.1.0") ? "acme/web:1.1.0" : "acme/web:1.0.0";
    recorded.world.containers = [
      { service: "web", image, id: imageIds.next, container: { Id: "c".repeat(64) } },
      { service: "db", image: "acme/db:16.1" },
    ];
  };

  test("sends the whole environment once, never prunes, and pulls", async () => {
    recorded.answer = (line) => {
      if (!line.startsWith("PUT ")) return null;
      carryOut();
      return json(200, recorded.world.stack)();
    };
    const { journal, apply } = await start();
    await apply();
    expect(await session.settle?.(ref, journal, live)).toBeNull();
    expect(puts().map(({ line, body }) => [line, JSON.parse(body)])).toEqual([
      [
        "PUT /api/stacks/3",
        {
          stackFileContent: file.replace("1.0.0", "1.1.0"),
          env: [
            { name: "DB_TAG", value: "16.1" },
            { name: "DB_PASSWORD", value: "s3cret-in-the-environment" },
          ],
          prune: false,
          pullImage: true,
        },
      ],
    ]);
    expect(journal.written()).toEqual(["deploy begin", "deploy finish", "follow begin", "follow finish"]);
    expect(JSON.stringify(journal.entries())).not.toContain("s3cret");
  });

  test("of a stack that was edited after the plan is not sent", async () => {
    const { journal, apply } = await start();
    recorded.world.file = `${file}# a word\n`;
    expect((await failure(apply())).said.code).toBe("portainer.changed_since_plan");
    expect([puts(), journal.written()]).toEqual([[], []]);
  });

  test("that compose refuses quotes it without the values of its file and environment, and with the image", async () => {
    const said = "failed to deploy acme/web:1.1.0: invalid value s3cret-in-the-environment or s3cret-in-the-file";
    recorded.answer = (line) => (line.startsWith("PUT ") ? json(500, { message: said, details: said })() : null);
    const { journal, apply } = await start();
    const error = await failure(apply());
    expect(error.said.code).toBe("portainer.not_deployed");
    expect(error.message).toEndWith("failed to deploy acme/web:1.1.0: invalid value •••• or ••••");
    expect(JSON.stringify(journal.entries())).not.toContain("s3cret");
  });

  test.each([
    [
      " Network shop_default  Creating\n Network shop_default  Created\n Container shop-web-1  Starting\nError response from daemon: port is already allocated\n",
      "failed to deploy a stack: Error response from daemon: port is already allocated",
    ],
    [
      " Container shop-web-1 Recreate \n Container shop-web-1 Error dependency db failed to start\ndependency failed to start: container shop-db-1 is unhealthy",
      "failed to deploy a stack: Container shop-web-1 Error dependency db failed to start dependency failed to start: container shop-db-1 is unhealthy",
    ],
    [
      " web Pulling \n 0a1b2c3d4e5f Pulling fs layer 0B\n 0a1b2c3d4e5f Download complete 0B\n db Interrupted \nError response from daemon: manifest unknown",
      "failed to deploy a stack: Error response from daemon: manifest unknown",
    ],
    ["container Restarting", "failed to deploy a stack: container Restarting"],
  ])("that compose refuses quotes the error, not its progress: %j", async (stderr, quoted) => {
    const said = `failed to deploy a stack: ${stderr}`;
    recorded.answer = (line) => (line.startsWith("PUT ") ? json(500, { message: said, details: said })() : null);
    const { apply } = await start();
    expect((await failure(apply())).message).toEndWith(`: ${quoted}`);
  });

  test("that a proxy lost is looked after until the proxy reaches Portainer again", async () => {
    let isAway = 0;
    recorded.answer = (line) => {
      if (line.startsWith("PUT ")) {
        carryOut();
        isAway = 3;
      }
      isAway -= 1;
      return isAway >= 0 ? new Response("404 page not found\n", { status: 404 }) : null;
    };
    const { journal, apply } = await start();
    await apply();
    expect([puts().length, journal.written()]).toEqual([1, ["deploy begin", "deploy finish"]]);
  });

  test("is quoted without any part of a value, when one is the beginning of another", async () => {
    recorded.world.stack.Env = [
      { name: "DB_TAG", value: "16.1" },
      { name: "USER", value: "administrator" },
      { name: "PASSWORD", value: "administrator-hunter2" },
    ];
    const said = "failed to deploy a stack: invalid value administrator-hunter2";
    recorded.answer = (line) => (line.startsWith("PUT ") ? json(500, { message: said, details: said })() : null);
    const { apply } = await start();
    expect((await failure(apply())).message).not.toContain("hunter2");
  });

  test.each([80, 90, 470])("is quoted without the part of a value at which its words are cut: %i", async (before) => {
    const value = "s3cret-in-the-environment";
    const said = `${"x".repeat(before)} ${value} ${"y ".repeat(before < 100 ? 400 : 193)}`;
    recorded.answer = (line) => (line.startsWith("PUT ") ? json(500, { message: said, details: said })() : null);
    const { apply } = await start();
    expect((await failure(apply())).message).not.toMatch(/s3cret|ronment/);
  });

  test.each<[string, () => Response | Promise<Response>]>([
    ["a page of a proxy", () => new Response("<html>", { status: 504 })],
    ["half a sentence", () => new Response('{"Id":', { status: 200 })],
    ["silence", () => new Promise(() => undefined)],
  ])("answered by %s is looked after, and not sent again", async (_, answer) => {
    recorded.answer = (line) => {
      if (!line.startsWith("PUT ")) return null;
      carryOut();
      return answer();
    };
    const { journal, apply } = await start();
    await apply();
    expect([puts().length, journal.written()]).toEqual([1, ["deploy begin", "deploy finish"]]);
  });

  test.each([408, 502, 503, 504])(
    "answered by a gateway with %i in JSON is looked after, and not sent again",
    async (status) => {
      const done = Promise.withResolvers<void>();
      recorded.answer = (line) => {
        if (!line.startsWith("PUT ")) return null;
        // Portainer has stored the new file, and still pulls.
        recorded.world.file = JSON.parse(puts().at(-1)?.body ?? "").stackFileContent;
        setTimeout(() => {
          carryOut();
          done.resolve();
        }, 100);
        return json(status, { message: "The upstream server is timing out" })();
      };
      const { journal, apply } = await start();
      await apply();
      await done.promise;
      expect([puts().length, journal.written()]).toEqual([1, ["deploy begin", "deploy finish"]]);
    },
  );

  test("that moves a tag and whose answer is lost is awaited while Portainer may pull", async () => {
    const named = (line: string) => {
      if (!line.includes("/images/")) return null;
      const id = line.includes(imageIds.old) ? imageIds.old : imageIds.next;
      return json(200, { Id: id, RepoDigests: [`acme/web@${id}`] })();
    };
    recorded.answer = named;
    await using own = await open("elsewhere", fastClock(120), 600);
    const plan = await own.plan(ref, [change("web", "acme/web:1.0.0", `acme/web@${imageIds.next}`)]);
    expect(plan.is_noop).toBe(false);
    recorded.answer = (line) => {
      if (!line.startsWith("PUT ")) return named(line);
      // Three minutes of pulling.
      setTimeout(() => carryOut(), 1_500);
      return new Response("<html>", { status: 504 });
    };
    const journal = memoryJournal();
    const { apply } = await own.prepare(plan, [], journal);
    await apply();
    expect([puts().length, journal.written()]).toEqual([1, ["deploy begin", "deploy finish"]]);
  });

  describe("of a stack with a service that kept crashing before", () => {
    let restarts = 0;
    const flaky = () => ({
      ...{ service: "flaky", image: "acme/flaky:1" },
      state: {
        Status: "restarting",
        Running: true,
        Restarting: true,
        StartedAt: `2026-01-02T03:04:${restarts++ % 60}Z`,
      },
      container: { RestartCount: restarts },
    });
    const seen = () => {
      recorded.world.containers = recorded.world.containers.map((each) => (each.service === "flaky" ? flaky() : each));
    };
    beforeEach(() => {
      recorded.world.file = `${file}  flaky:\n    image: acme/flaky:1\n`;
      recorded.world.containers = [...recorded.world.containers, flaky()];
    });

    test("does not wait for that one", async () => {
      recorded.answer = (line) => {
        seen();
        if (!line.startsWith("PUT ")) return null;
        carryOut();
        // As compose: the container that nothing changes keeps its ID.
        const [web, db] = recorded.world.containers;
        if (web !== undefined && db !== undefined) recorded.world.containers = [web, db, flaky()];
        return json(200, recorded.world.stack)();
      };
      const { journal, apply } = await start();
      await apply();
      const ended = AbortSignal.timeout(10_000);
      expect(await session.settle?.(ref, journal, ended)).toBeNull();
    }, 20_000);

    test("that fails before it touched anything says so, and nothing more is sent", async () => {
      recorded.answer = (line) => {
        seen();
        return line.startsWith("PUT ") ? json(500, { message: "failed to pull images of the stack" })() : null;
      };
      const snapshot = (await session.snapshots?.capture(ref)) ?? "";
      const { journal, apply } = await start();
      expect((await failure(apply())).said.code).toBe("portainer.not_deployed");
      expect((await session.undo(ref, journal, snapshot)).state).toBe("untouched");
      expect(puts().length).toBe(1);
    });

    test("of which nothing is left, though nothing else ran, was taken down", async () => {
      recorded.world.containers = [flaky()];
      recorded.answer = (line) => {
        if (!line.startsWith("PUT ")) return null;
        recorded.world.containers = [];
        return json(500, { message: "failed to deploy a stack" })();
      };
      const { apply } = await start();
      expect((await failure(apply())).said.code).toBe("portainer.took_down");
    });
  });

  test("that Portainer never finishes ends with a sentence, and nothing more is sent", async () => {
    recorded.answer = (line) => {
      if (!line.startsWith("PUT ")) return null;
      recorded.world.file = JSON.parse(puts().at(-1)?.body ?? "").stackFileContent;
      return new Response("", { status: 502 });
    };
    const snapshot = (await session.snapshots?.capture(ref)) ?? "";
    const { journal, apply } = await start();
    expect((await failure(apply())).said.code).toBe("portainer.unfinished");
    expect(await session.undo(ref, journal, snapshot)).toMatchObject({
      state: "mixed",
      detail: { code: "portainer.still_working" },
    });
    expect(puts().length).toBe(1);
  });

  test("that somebody else's edit followed is left to that", async () => {
    recorded.answer = (line) => {
      if (!line.startsWith("PUT ")) return null;
      Object.assign(recorded.world.stack, { UpdateDate: 1_700_000_000 });
      recorded.world.file = `${file}# somebody else\n`;
      return new Response("", { status: 502 });
    };
    const snapshot = (await session.snapshots?.capture(ref)) ?? "";
    const { journal, apply } = await start();
    expect((await failure(apply())).said.code).toBe("portainer.changed_meanwhile");
    expect((await session.undo(ref, journal, snapshot)).state).toBe("mixed");
    expect(puts().length).toBe(1);
  });

  test("whose process ended is found again by the next one, which sends nothing", async () => {
    recorded.answer = (line) => {
      if (!line.startsWith("PUT ")) return null;
      carryOut();
      return json(200, recorded.world.stack)();
    };
    const { journal, apply } = await start();
    journal.dieAt(2, "before");
    await apply().catch(() => undefined);
    expect((await session.recover(ref, journal.reopened(), null)).state).toBe("started");
    const unsent = memoryJournal();
    expect((await session.recover(ref, unsent, null)).state).toBe("untouched");
    expect(puts().length).toBe(1);
  });

  test("is found again by its images as they are, also with a stored secret in their names", async () => {
    recorded.answer = (line) => {
      if (!line.startsWith("PUT ")) return null;
      carryOut();
      return json(200, recorded.world.stack)();
    };
    await using journals = await durableJournal("acme/web");
    const journal = await journals.open();
    await (await session.prepare(await session.plan(ref, [update]), [], journal)).apply();
    expect(await session.settle?.(ref, journal, live)).toBeNull();
    expect((await session.recover(ref, await journals.open(), null)).state).toBe("started");
    expect(puts().length).toBe(1);
  });

  test("of which only the tag stays and the image moves is told apart by the image", async () => {
    const plan = await session.plan(ref, [change("web", "acme/web:1.0.0", `acme/web@${imageIds.next}`)]);
    // Without a digest of what runs nobody knows whether it has moved.
    expect(plan.is_noop).toBe(true);
    recorded.answer = (line) => {
      if (!line.includes("/images/")) return null;
      const RepoDigests = [`acme/web@${line.includes(imageIds.old) ? imageIds.old : imageIds.next}`];
      return json(200, { Id: line.includes(imageIds.old) ? imageIds.old : imageIds.next, RepoDigests })();
    };
    await using later = await open();
    const moved = await later.plan(ref, [change("web", "acme/web:1.0.0", `acme/web@${imageIds.next}`)]);
    expect(moved).toMatchObject({ is_noop: false, diff: [{ before: `acme/web:1.0.0@${imageIds.old}` }] });
    expect(moved.warnings.map(({ code }) => code)).toContain("same_reference");
  });

  test("with a request that is never answered, whichever it is, is sent once and ends with one version", async () => {
    const world = structuredClone(recorded.world);
    for (let silent = 1; ; silent++) {
      Object.assign(recorded.world, structuredClone(world));
      recorded.requests.length = 0;
      let isSilenced = false;
      recorded.answer = (line) => {
        if (line.startsWith("PUT ")) {
          carryOut();
          // Ready by its own check, so that each turn is short.
          recorded.world.containers = recorded.world.containers.map((each) => ({
            ...each,
            state: { Health: { Status: "healthy" } },
          }));
        }
        if (recorded.requests.length === silent) {
          isSilenced = true;
          return new Promise(() => undefined);
        }
        return line.startsWith("PUT ") ? json(200, recorded.world.stack)() : null;
      };
      await using own = await open("elsewhere", fastClock(30));
      const journal = memoryJournal();
      const run = async () => {
        const { apply } = await own.prepare(await own.plan(ref, [update]), [], journal);
        await apply();
        return await own.settle?.(ref, journal, live);
      };
      const end = await run().catch((error: unknown) => error);
      const line = recorded.requests[silent - 1]?.line ?? "none";
      recorded.answer = () => null;
      if (end !== null) expect([line, end instanceof PluginError && end.code]).toEqual([line, "unreachable"]);
      // Whoever resumes the run finds out what became of it, and sends nothing.
      await using next = await open("elsewhere", fastClock(30));
      const sent = puts().length;
      const { state } = await next.recover(ref, journal.reopened(), null);
      expect([line, state]).toEqual([line, sent === 0 ? "untouched" : "started"]);
      if (sent > 0) expect([line, await next.settle?.(ref, journal, live)]).toEqual([line, null]);
      expect([line, puts().length, sent <= 1]).toEqual([line, sent, true]);
      if (!isSilenced) break;
      expect(silent).toBeLessThan(60);
    }
  }, 180_000);

  // Newer versions of Portainer answer before they have carried anything out.
  test("whose deployment fails after the answer says why, without the values of its file", async () => {
    const Message = "failed to deploy a stack: invalid value s3cret-in-the-file";
    recorded.answer = (line) => {
      if (!line.startsWith("PUT ")) return null;
      const { containers } = recorded.world;
      carryOut();
      recorded.world.containers = containers;
      Object.assign(recorded.world.stack, { Status: 4, DeploymentStatus: [{ Message: "" }, { Message }] });
      return json(200, recorded.world.stack)();
    };
    const { journal, apply } = await start();
    await apply();
    const why = await session.settle?.(ref, journal, live);
    expect(why).toMatchObject({ code: "portainer.deployment_failed" });
    expect(JSON.stringify(why)).toContain("invalid value ••••");
  });

  test("is not taken for complete while Portainer is still at work", async () => {
    recorded.answer = (line) => {
      if (!line.startsWith("PUT ")) return null;
      carryOut();
      Object.assign(recorded.world.stack, { Status: 3 });
      return json(200, recorded.world.stack)();
    };
    const { journal, apply } = await start();
    await apply();
    expect(await session.settle?.(ref, journal, live)).toMatchObject({
      code: "portainer.stalled",
      params: { cause: { code: "portainer.deploying" } },
    });
  });

  test("waits for what Portainer has created and not started yet", async () => {
    let looks = 0;
    recorded.answer = (line) => {
      const [web] = recorded.world.containers;
      if (line.startsWith("PUT ")) {
        carryOut();
        const [created] = recorded.world.containers;
        if (created !== undefined) created.container = { ...created.container, State: { Status: "created" } };
        Object.assign(recorded.world.stack, { Status: 3 });
        return json(200, recorded.world.stack)();
      }
      looks += recorded.world.stack.Status === 3 && line === "GET /api/stacks/3" ? 1 : 0;
      if (looks === 3 && web !== undefined) {
        web.container = { Id: "c".repeat(64) };
        Object.assign(recorded.world.stack, { Status: 1 });
      }
      return null;
    };
    const { journal, apply } = await start();
    await apply();
    expect(await session.settle?.(ref, journal, live)).toBeNull();
  });

  test("and its way back name the stack's webhook, which Portainer would remove otherwise", async () => {
    Object.assign(recorded.world.stack, { AutoUpdate: { Webhook: "550e8400-e29b", Interval: "" } });
    recorded.answer = (line) => {
      if (!line.startsWith("PUT ")) return null;
      carryOut();
      return json(200, recorded.world.stack)();
    };
    const snapshot = (await session.snapshots?.capture(ref)) ?? "";
    const { journal, apply } = await start();
    await apply();
    expect((await session.undo(ref, journal, snapshot)).state).toBe("untouched");
    expect(puts().map(({ body }) => JSON.parse(body).webhook)).toEqual(["550e8400-e29b", "550e8400-e29b"]);
  });

  test("of a stack that is deleted meanwhile fails, also for the next process", async () => {
    recorded.answer = (line) => {
      if (line === "GET /api/stacks") return puts().length === 0 ? null : json(200, [])();
      if (line === "GET /api/stacks/3") return puts().length === 0 ? null : json(404, { message: "Not found" })();
      return line.startsWith("PUT ") ? json(200, recorded.world.stack)() : null;
    };
    const { journal, apply } = await start();
    await apply();
    expect(await session.settle?.(ref, journal, live)).toMatchObject({ code: "portainer.stack_missing" });
    expect(await session.recover(ref, journal.reopened(), null)).toMatchObject({
      state: "down",
      detail: { code: "portainer.stack_missing" },
    });
  });

  test("whose process ended is put back once, and left to the outage when that fails", async () => {
    recorded.answer = (line) => {
      if (!line.startsWith("PUT ")) return null;
      recorded.world.containers = [];
      return json(500, { message: "failed to deploy a stack" })();
    };
    const snapshot = (await session.snapshots?.capture(ref)) ?? "";
    const { journal, apply } = await start();
    journal.dieAt(2, "before");
    await apply().catch(() => undefined);
    expect(await session.recover(ref, journal.reopened(), snapshot)).toMatchObject({
      state: "down",
      detail: { code: "portainer.not_put_back" },
    });
    expect(puts().length).toBe(2);
  });

  test("whose process is to stop is left to Portainer, and found by the next one", async () => {
    const release = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    recorded.answer = async (line) => {
      if (!line.startsWith("PUT ")) return null;
      arrived.resolve();
      await release.promise;
      return json(200, {})();
    };
    const { journal, apply } = await start();
    const stopping = new AbortController();
    const applying = apply(stopping.signal).catch((error: unknown) => error);
    await arrived.promise;
    stopping.abort(new Error("The process is to stop"));
    expect(await applying).toBe(stopping.signal.reason);
    carryOut();
    release.resolve();
    await using next = await open();
    expect((await next.recover(ref, journal.reopened(), null)).state).toBe("started");
    expect(puts().length).toBe(1);
  });
});

describe("what a run left", () => {
  const carriedOut = async () => {
    const journal = memoryJournal();
    const { apply } = await session.prepare(await session.plan(ref, [update]), [], journal);
    recorded.answer = (line) => {
      if (!line.startsWith("PUT ")) return null;
      recorded.world.file = JSON.parse(puts().at(-1)?.body ?? "").stackFileContent;
      Object.assign(recorded.world.stack, { UpdateDate: 1_700_000_000 });
      recorded.world.containers = [
        { service: "web", image: "acme/web:1.1.0", container: { Id: "c".repeat(64) } },
        { service: "db", image: "acme/db:16.1", container: { RestartCount: 4 } },
      ];
      return json(200, recorded.world.stack)();
    };
    await apply();
    return journal;
  };
  const become = (state: Readonly<Record<string, unknown>>, container: Readonly<Record<string, unknown>> = {}) => {
    const [web, db] = recorded.world.containers;
    if (web === undefined || db === undefined) throw new Error("There are two containers");
    recorded.world.containers = [{ ...web, state, container: { ...web.container, ...container } }, db];
  };

  test("is ready when each service is, by its own check or after the stability period", async () => {
    const journal = await carriedOut();
    // What the update left alone may have been restarted before.
    expect(await session.readiness(ref, 10_000, journal)).toMatchObject({ ready: true });
    expect(await session.readiness(ref, 9_999, journal)).toMatchObject({ ready: false });
    become({ Health: { Status: "healthy" } });
    expect(await session.readiness(ref, 0, journal)).toMatchObject({ ready: true });
    become({ Health: { Status: "unhealthy" } });
    expect(await session.readiness(ref, 0, journal)).toMatchObject({ ready: false, final: true });
    expect(await session.settle?.(ref, journal, live)).toMatchObject({
      code: "phrases.about",
      params: { name: "web", said: { code: "readiness.check_fails" } },
    });
  });

  test("ends when a service that has to run was restarted, exits or is removed", async () => {
    const journal = await carriedOut();
    const end = async () => {
      await using fresh = await open();
      const found = await fresh.findEnd(ref, journal);
      return found === null ? null : [found.params.name, found.params.said];
    };
    expect(await end()).toBeNull();
    become({}, { RestartCount: 1 });
    expect(await end()).toMatchObject(["web", { code: "readiness.restarted" }]);
    become({ Status: "exited", Running: false, ExitCode: 3 }, { RestartCount: 0 });
    expect(await end()).toMatchObject(["web", { code: "readiness.exited" }]);
    recorded.world.containers = recorded.world.containers.slice(1);
    expect(await end()).toMatchObject(["web", { code: "readiness.removed" }]);
  });

  test("is as it was left until somebody edits it", async () => {
    const journal = await carriedOut();
    const first = await session.standing(ref, journal, { before: null, ran_ms: 10_000 });
    expect(first).toMatchObject({ changed: null, is_up: true, readiness: { ready: true } });
    const again = () => session.standing(ref, journal, { before: first.facts, ran_ms: 10_000 });
    expect(await again()).toMatchObject({ changed: null });
    recorded.world.containers = [];
    expect(await again()).toMatchObject({ changed: null, is_up: false, readiness: { ready: false } });
    recorded.world.file = `${recorded.world.file}# a word\n`;
    expect(await again()).toMatchObject({ changed: { code: "portainer.changed_meanwhile" } });
  });
});
