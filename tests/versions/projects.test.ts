import { describe, expect, test } from "bun:test";
import { orderReleases, sortings } from "../../src/versions/channel.ts";
import { orderTags } from "../../src/versions/order.ts";
import { judgedAims, type Project, releasesOf, takenFrom } from "../support/project-lists.ts";
import { randomFrom, shuffled } from "../support/random.ts";
import { classes } from "./classes-table.ts";
import { projects } from "./projects-table.ts";

const titled = (list: readonly Project[]) => list.map((project) => [project.name, project] as const);

test("thirty projects are judged, each with every tag once", () => {
  expect(projects.length).toBe(30);
  for (const project of [...projects, ...Object.values(classes).flat()]) {
    const tags = releasesOf(project).map(({ tag }) => tag);
    expect([project.name, tags.toSorted()]).toEqual([project.name, [...new Set(tags)].toSorted()]);
  }
});

describe.each(Object.entries({ "projects that took no part in the rules": projects, ...classes }))("%s", (_, list) => {
  describe.each(titled(list))("%s", (_, project) => {
    const releases = releasesOf(project);

    test.each(sortings)("by %s", (sorting) => {
      for (const listed of [releases, shuffled(releases, randomFrom(releases.length))]) {
        for (const aim of judgedAims) {
          if (project[aim] === undefined) continue;
          const latest = orderReleases(listed, sorting, aim)[0]?.tag;
          expect([aim, latest]).toEqual([aim, takenFrom(project, aim, sorting)]);
        }
      }
    });

    test("by names alone", () => {
      const latest = orderTags(
        releases.map(({ tag }) => tag),
        "stable",
      )[0];
      expect(latest).toBe(project.misses?.["stable names"] ?? takenFrom(project, "stable", "semantic") ?? "");
    });
  });
});

const untimed = [...projects, ...Object.values(classes).flat()].filter((project) => !project.tags.includes("@"));

test.each(titled(untimed))("%s, of which a check keeps ten", (_, project) => {
  const kept = orderTags(releasesOf(project).map(({ tag }) => tag)).slice(0, 10);
  const releases = kept.map((tag) => ({ tag, published_at: null, first_observed_at: 0 }));
  const latest = orderReleases(releases, "publish_time", "stable")[0]?.tag;
  expect(latest).toBe(takenFrom(project, "stable", "publish_time") ?? "");
});
