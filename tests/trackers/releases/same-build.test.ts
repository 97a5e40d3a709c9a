import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { leadingTags } from "../../../src/trackers/releases/same-build.ts";
import { randomFrom, shuffled } from "../../support/random.ts";
import { channel, source, type TrackerHouse, trackerHouse } from "../tracker-house.ts";

const digest = "sha256:one";
const named = (tag: string, revision: string | null = digest, first_observed_at = 1) => ({
  tag,
  revision,
  first_observed_at,
});

describe("leadingTags()", () => {
  test.each([
    ["18.1", ["18", "18.1", "18.1-trixie", "latest", "trixie"]],
    ["1.27.4", ["1", "1.27", "1.27.4", "1.27.4-bookworm", "mainline"]],
    ["18.1-alpine", ["18-alpine", "18.1-alpine", "18.1-alpine3.22", "alpine"]],
    ["2.0.0", ["2.0.0", "2.0.0-rc3"]],
    ["v3.6.4", ["v3.6.4", "v3.6", "v3", "munster", "latest"]],
    ["latest", ["latest", "stable"]],
  ])("shows %s first of %p", (expected, tags) => {
    for (const listed of [tags, shuffled(tags, randomFrom(tags.length))]) {
      const leads = leadingTags(listed.map((tag) => named(tag)));
      expect(listed.map((tag) => leads.get(tag))).toEqual(tags.map(() => expected));
    }
  });

  test("keeps apart what was found at another time, has another digest, none or a commit", () => {
    const commit = "1f2e3d4c5b6a79880716253443526170f8e9d0c1";
    const releases = [
      named("18.1"),
      named("latest", digest, 2),
      named("18.0", "sha256:two"),
      named("17.1", null),
      named("17", null),
      named("api/v1.0.0", commit),
      named("web/v3.2.0", commit),
    ];
    const leads = leadingTags(releases);
    expect(releases.map(({ tag }) => leads.get(tag))).toEqual(releases.map(({ tag }) => tag));
  });
});

describe("five tags of one image that are found together", () => {
  let house: TrackerHouse;
  beforeEach(async () => {
    house = await trackerHouse();
  });
  afterEach(() => house.close());

  const five = (version: string) => [version.split(".")[0] ?? "", `${version}-trixie`, "latest", "trixie", version];
  const publish = (version: string) =>
    house.publish("db", ...five(version).map((tag) => ({ tag, revision: `sha256:${version}` })));

  test("are one row of the history under the plainest, with the others beside it", async () => {
    publish("18.1");
    house.publish("db", "18.0");
    await house.create("db", {}, [source("db", { channels: [channel("stable")] })]);
    await house.check("db");
    const rows = (await house.trackers.versions("db", {})).items;
    expect(rows.map(({ version, aliases }) => [version, aliases.toSorted()])).toEqual([
      ["18.1", ["18", "18.1-trixie", "latest", "trixie"]],
      ["18.0", []],
    ]);
    expect(rows[0]?.releases[0]?.tag).toBe("18.1");
    expect(rows[0]?.latest_in).toEqual(["stable"]);
  });

  test("are one piece of news, and those of another version with it are one more", async () => {
    house.publish("db", "17.0");
    await house.create("db", {}, [source("db", { channels: [channel("stable")] })]);
    await house.check("db");
    await house.clock.advance(60_000);
    for (const tag of ["17", "17.7", "17.7-trixie"]) house.publish("db", { tag, revision: "sha256:17.7" });
    publish("18.1");
    await house.check("db");
    expect(house.releaseEvents()).toMatchObject([{ version: "18.1", also: ["17.7"] }]);
  });
});
