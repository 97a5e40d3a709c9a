import { describe, expect, test } from "bun:test";
import { configForCreate, mergeConfig } from "../../../src/runtimes/engine/merge.ts";
import type { RawObject } from "../../../src/runtimes/engine/raw.ts";

interface Case {
  what: string;
  container: RawObject;
  old: RawObject;
  next: RawObject;
  /** The members of the result that matter here. */
  merged: RawObject;
}

const check = { Test: ["CMD", "probe"], Interval: 5, Timeout: 2, Retries: 3 };

const cases: readonly Case[] = [
  // Scalars
  {
    what: "a default follows the new image",
    container: { User: "app" },
    old: { User: "app" },
    next: { User: "www" },
    merged: { User: "www" },
  },
  {
    what: "a chosen user stays",
    container: { User: "1000" },
    old: { User: "app" },
    next: { User: "www" },
    merged: { User: "1000" },
  },
  {
    what: "a default that the new image drops goes",
    container: { User: "app" },
    old: { User: "app" },
    next: {},
    merged: { User: undefined },
  },
  {
    what: "a default that the new image brings comes",
    container: { User: "" },
    old: { User: "" },
    next: { User: "www" },
    merged: { User: "www" },
  },
  {
    what: "a default directory follows",
    container: { WorkingDir: "/old" },
    old: { WorkingDir: "/old" },
    next: { WorkingDir: "/new" },
    merged: { WorkingDir: "/new" },
  },
  {
    what: "a chosen directory stays",
    container: { WorkingDir: "/mine" },
    old: { WorkingDir: "/old" },
    next: { WorkingDir: "/new" },
    merged: { WorkingDir: "/mine" },
  },
  {
    what: "a stop signal that the image brings comes",
    container: {},
    old: {},
    next: { StopSignal: "SIGINT" },
    merged: { StopSignal: "SIGINT" },
  },
  {
    what: "a chosen stop signal stays",
    container: { StopSignal: "SIGQUIT" },
    old: {},
    next: { StopSignal: "SIGINT" },
    merged: { StopSignal: "SIGQUIT" },
  },
  {
    what: "what no engine takes from an image is the container's own, though its image was committed with the same",
    container: { Shell: ["/bin/ash"], Tty: true, OpenStdin: true, StopTimeout: 42, OnBuild: ["RUN true"] },
    old: { Shell: ["/bin/ash"], Tty: true, OpenStdin: true, StopTimeout: 42, OnBuild: ["RUN true"] },
    next: { Shell: ["/bin/sh"], StopTimeout: 1 },
    merged: { Shell: ["/bin/ash"], Tty: true, OpenStdin: true, StopTimeout: 42, OnBuild: ["RUN true"] },
  },
  {
    what: "a field that nobody here knows is carried",
    container: { Future: { a: 1 } },
    old: {},
    next: {},
    merged: { Future: { a: 1 } },
  },
  {
    what: "a field that nobody here knows follows the image too",
    container: { Future: 1 },
    old: { Future: 1 },
    next: { Future: 2 },
    merged: { Future: 2 },
  },
  { what: "a stop timeout stays", container: { StopTimeout: 42 }, old: {}, next: {}, merged: { StopTimeout: 42 } },

  // Variables
  {
    what: "a default variable follows",
    container: { Env: ["A=1"] },
    old: { Env: ["A=1"] },
    next: { Env: ["A=2"] },
    merged: { Env: ["A=2"] },
  },
  {
    what: "a chosen variable stays",
    container: { Env: ["A=mine"] },
    old: { Env: ["A=1"] },
    next: { Env: ["A=2"] },
    merged: { Env: ["A=mine"] },
  },
  {
    what: "a variable that the new image drops goes",
    container: { Env: ["A=1", "B=mine"] },
    old: { Env: ["A=1"] },
    next: { Env: [] },
    merged: { Env: ["B=mine"] },
  },
  {
    what: "a variable that the new image brings comes",
    container: { Env: ["B=mine"] },
    old: {},
    next: { Env: ["C=3"] },
    merged: { Env: ["B=mine", "C=3"] },
  },
  {
    what: "a variable of the new image that a person also set stays theirs",
    container: { Env: ["C=mine"] },
    old: {},
    next: { Env: ["C=3"] },
    merged: { Env: ["C=mine"] },
  },
  {
    what: "an empty value is a value",
    container: { Env: ["A="] },
    old: { Env: ["A=1"] },
    next: { Env: ["A=2"] },
    merged: { Env: ["A="] },
  },
  {
    what: "a variable without a value stays",
    container: { Env: ["UNSET"] },
    old: {},
    next: { Env: ["UNSET=1"] },
    merged: { Env: ["UNSET"] },
  },
  {
    what: "an equals sign in a value is no separator",
    container: { Env: ["A=b=c"] },
    old: { Env: ["A=b"] },
    next: { Env: ["A=x"] },
    merged: { Env: ["A=b=c"] },
  },
  {
    what: "a name with two lines keeps both, though one of them is the default: the last one counts",
    container: { Env: ["A=mine", "A=1"] },
    old: { Env: ["A=1"] },
    next: { Env: ["A=2"] },
    merged: { Env: ["A=mine", "A=1"] },
  },
  {
    what: "a name of which the default is the first of two lines keeps both",
    container: { Env: ["A=1", "A=mine"] },
    old: { Env: ["A=1"] },
    next: {},
    merged: { Env: ["A=1", "A=mine"] },
  },

  // Labels, ports and volumes
  {
    what: "a default label follows",
    container: { Labels: { v: "1" } },
    old: { Labels: { v: "1" } },
    next: { Labels: { v: "2" } },
    merged: { Labels: { v: "2" } },
  },
  {
    what: "a chosen label stays",
    container: { Labels: { v: "mine" } },
    old: { Labels: { v: "1" } },
    next: { Labels: { v: "2" } },
    merged: { Labels: { v: "mine" } },
  },
  {
    what: "a label that the new image drops goes",
    container: { Labels: { v: "1", own: "x" } },
    old: { Labels: { v: "1" } },
    next: { Labels: null },
    merged: { Labels: { own: "x" } },
  },
  {
    what: "exposed ports of the image follow",
    container: { ExposedPorts: { "80/tcp": {}, "99/tcp": {} } },
    old: { ExposedPorts: { "80/tcp": {} } },
    next: { ExposedPorts: { "8080/tcp": {} } },
    merged: { ExposedPorts: { "8080/tcp": {}, "99/tcp": {} } },
  },
  {
    what: "volumes of the image follow",
    container: { Volumes: { "/old": {}, "/own": {} } },
    old: { Volumes: { "/old": {} } },
    next: { Volumes: { "/new": {} } },
    merged: { Volumes: { "/new": {}, "/own": {} } },
  },

  // Entrypoint and command
  {
    what: "both defaults follow",
    container: { Entrypoint: ["e1"], Cmd: ["c1"] },
    old: { Entrypoint: ["e1"], Cmd: ["c1"] },
    next: { Entrypoint: ["e2"], Cmd: ["c2"] },
    merged: { Entrypoint: ["e2"], Cmd: ["c2"] },
  },
  {
    what: "a chosen command stays behind the new entrypoint",
    container: { Entrypoint: ["e1"], Cmd: ["mine"] },
    old: { Entrypoint: ["e1"], Cmd: ["c1"] },
    next: { Entrypoint: ["e2"], Cmd: ["c2"] },
    merged: { Entrypoint: ["e2"], Cmd: ["mine"] },
  },
  {
    what: "a chosen entrypoint stays with its command",
    container: { Entrypoint: ["mine"], Cmd: ["arg"] },
    old: { Entrypoint: ["e1"], Cmd: ["c1"] },
    next: { Entrypoint: ["e2"], Cmd: ["c2"] },
    merged: { Entrypoint: ["mine"], Cmd: ["arg"] },
  },
  {
    what: "a chosen entrypoint without a command gets none from the new image",
    container: { Entrypoint: ["mine"], Cmd: null },
    old: { Entrypoint: ["e1"], Cmd: ["c1"] },
    next: { Entrypoint: ["e2"], Cmd: ["c2"] },
    merged: { Entrypoint: ["mine"], Cmd: null },
  },
  {
    what: "a chosen entrypoint with just the default command keeps it",
    container: { Entrypoint: ["mine"], Cmd: ["c1"] },
    old: { Entrypoint: ["e1"], Cmd: ["c1"] },
    next: { Cmd: ["c2"] },
    merged: { Entrypoint: ["mine"], Cmd: ["c1"] },
  },
  {
    what: "a missing command tells of an entrypoint that was given, though it equals the default",
    container: { Entrypoint: ["e1"], Cmd: null },
    old: { Entrypoint: ["e1"], Cmd: ["c1"] },
    next: { Entrypoint: ["e2"], Cmd: ["c2"] },
    merged: { Entrypoint: ["e1"], Cmd: null },
  },
  {
    what: "a command without any entrypoint follows",
    container: { Entrypoint: null, Cmd: ["c1"] },
    old: { Cmd: ["c1"] },
    next: { Cmd: ["c2"] },
    merged: { Entrypoint: null, Cmd: ["c2"] },
  },
  {
    what: "an entrypoint that was reset stays reset",
    container: { Entrypoint: null, Cmd: ["c"] },
    old: { Entrypoint: ["e1"], Cmd: ["c1"] },
    next: { Entrypoint: ["e2"], Cmd: ["c2"] },
    merged: { Entrypoint: null, Cmd: ["c"] },
  },
  {
    what: "an entrypoint that was taken away by an empty list stays away, and the default command follows",
    container: { Entrypoint: [], Cmd: ["c1"] },
    old: { Entrypoint: ["e1"], Cmd: ["c1"] },
    next: { Entrypoint: ["e2"], Cmd: ["c2"] },
    merged: { Entrypoint: [], Cmd: ["c2"] },
  },
  {
    what: "an empty list stays one where the old image had no entrypoint and the new one has",
    container: { Entrypoint: [], Cmd: ["mine"] },
    old: { Cmd: ["c1"] },
    next: { Entrypoint: ["e2"], Cmd: ["c2"] },
    merged: { Entrypoint: [], Cmd: ["mine"] },
  },
  {
    what: "an empty list that is the image's own follows",
    container: { Entrypoint: [], Cmd: ["c1"] },
    old: { Entrypoint: [], Cmd: ["c1"] },
    next: { Entrypoint: ["e2"], Cmd: ["c2"] },
    merged: { Entrypoint: ["e2"], Cmd: ["c2"] },
  },

  // Health check
  {
    what: "a default check follows",
    container: { Healthcheck: check },
    old: { Healthcheck: check },
    next: { Healthcheck: { ...check, Interval: 9 } },
    merged: { Healthcheck: { ...check, Interval: 9 } },
  },
  {
    what: "one chosen member stays, the others follow",
    container: { Healthcheck: { ...check, Interval: 60 } },
    old: { Healthcheck: check },
    next: { Healthcheck: { Test: ["CMD", "new"], Interval: 9, Timeout: 4, Retries: 5 } },
    merged: { Healthcheck: { Test: ["CMD", "new"], Interval: 60, Timeout: 4, Retries: 5 } },
  },
  {
    what: "a check of one's own stays",
    container: { Healthcheck: check },
    old: {},
    next: { Healthcheck: { Test: ["CMD", "theirs"] } },
    merged: { Healthcheck: check },
  },
  {
    what: "a check that is switched off stays off, and shows the new image's other members as it showed the old one's",
    container: { Healthcheck: { ...check, Test: ["NONE"] } },
    old: { Healthcheck: check },
    next: { Healthcheck: { ...check, Interval: 9 } },
    merged: { Healthcheck: { ...check, Test: ["NONE"], Interval: 9 } },
  },
  {
    what: "a check that only the old image switched off comes back",
    container: { Healthcheck: { Test: ["NONE"] } },
    old: { Healthcheck: { Test: ["NONE"] } },
    next: { Healthcheck: check },
    merged: { Healthcheck: check },
  },
  {
    what: "a check that only the old image switched off is not frozen",
    container: { Healthcheck: { Test: ["NONE"] } },
    old: { Healthcheck: { Test: ["NONE"] } },
    next: {},
    merged: { Healthcheck: null },
  },
  {
    what: "a default check that the new image drops goes",
    container: { Healthcheck: check },
    old: { Healthcheck: check },
    next: {},
    merged: { Healthcheck: null },
  },
];

describe("mergeConfig()", () => {
  test.each(cases)("$what", ({ container, old, next, merged }) => {
    const found = mergeConfig(container, old, next);
    for (const [key, value] of Object.entries(merged)) expect(found[key]).toEqual(value);
  });

  test("with the same image before and after it gives the container back", () => {
    const image = { Env: ["A=1"], Cmd: ["c"], Entrypoint: ["e"], User: "app", Labels: { v: "1" }, Healthcheck: check };
    const container = { ...image, Env: ["B=2", "A=1"], Labels: { v: "1", own: "x" }, Tty: true };
    const { ExposedPorts: _ports, Volumes: _volumes, ...rest } = mergeConfig(container, image, image);
    expect(rest).toEqual(container);
  });
});

describe("configForCreate()", () => {
  test("says an empty entrypoint where the image has one and the container must not", () => {
    expect(configForCreate({ Entrypoint: null, Cmd: ["c"] }, { Entrypoint: ["e"] })).toEqual({
      Entrypoint: [""],
      Cmd: ["c"],
    });
    expect(configForCreate({ Entrypoint: null, Cmd: ["c"] }, {})).toEqual({ Cmd: ["c"] });
    const takenAway = { Entrypoint: [], Cmd: ["c"] };
    expect(configForCreate(takenAway, { Entrypoint: ["e"] })).toEqual(takenAway);
  });
});
