import { describe, expect, test } from "bun:test";
import { orderReleases, sortings } from "../../src/versions/channel.ts";
import { findLinePatches } from "../../src/versions/line-patches.ts";
import { orderTags } from "../../src/versions/order.ts";
import { judgedAims, type Project, releasesOf, takenFrom } from "../support/project-lists.ts";
import { randomFrom, shuffled } from "../support/random.ts";
import { classes as firstClasses } from "./classes-table.ts";
import { learnedClasses } from "./learned-classes-table.ts";
import { images } from "./real-images.ts";
import { releases as dated } from "./real-releases.ts";
import { remembered } from "./remembered-table.ts";

const titled = (list: readonly Project[]) => list.map((project) => [project.name, project] as const);

const classes = { ...firstClasses, ...learnedClasses };
const real = [...images, ...dated];
const all = [...real, ...remembered, ...Object.values(classes).flat()];

test("of forty real lists so many have the right stable version", () => {
  const right = (by: "publish_time" | "semantic" | "names") =>
    real.filter((project) => takenFrom(project, "stable", by) === project.stable).length;
  expect([real.length, right("semantic"), right("names"), right("publish_time")]).toEqual([40, 37, 37, 32]);
});

test("each list has every tag once", () => {
  for (const project of all) {
    const tags = releasesOf(project).map(({ tag }) => tag);
    expect([project.name, tags.toSorted()]).toEqual([project.name, [...new Set(tags)].toSorted()]);
  }
});

describe.each(Object.entries({ "taken from real projects": real, "written from memory": remembered, ...classes }))(
  "%s",
  (_, list) => {
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
        const tags = releases.map(({ tag }) => tag);
        for (const aim of judgedAims) {
          if (project[aim] === undefined) continue;
          expect([aim, orderTags(tags, aim)[0]]).toEqual([aim, takenFrom(project, aim, "names")]);
        }
      });
    });
  },
);

const untimed = all.filter((project) => !project.tags.includes("@"));

test.each(titled(untimed))("%s, of which a check keeps ten", (_, project) => {
  const kept = orderTags(releasesOf(project).map(({ tag }) => tag)).slice(0, 10);
  const releases = kept.map((tag) => ({ tag, published_at: null, first_observed_at: 0 }));
  const latest = orderReleases(releases, "publish_time", "stable")[0]?.tag;
  expect(latest).toBe(takenFrom(project, "stable", "publish_time") ?? "");
});

const takenOver = dated.filter(
  (project) => takenFrom(project, "stable", "publish_time") !== takenFrom(project, "stable", "semantic"),
);

test.each(titled(takenOver))("%s: the preview warns that an older line takes over", (_, project) => {
  const listed = orderReleases(releasesOf(project), "semantic", "stable");
  const found = findLinePatches(
    listed.map((release) => ({ ...release, stage: "tag" })),
    "stable",
  );
  expect([found?.proof, found?.examples[0]?.tag]).toEqual([
    "published",
    takenFrom(project, "stable", "publish_time") ?? "",
  ]);
});
