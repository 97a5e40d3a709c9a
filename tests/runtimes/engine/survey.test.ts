import { describe, expect, test } from "bun:test";
import { findNameOfId } from "../../../src/runtimes/engine/survey.ts";

const web = `5f3a9c0b12d4${"0".repeat(52)}`;
const worker = `5f3a9c77aa01${"0".repeat(52)}`;
const client = {
  listContainers: async () => [
    { Id: web, Names: ["/shop/web", "/web"] },
    { Id: worker, Names: ["/worker"] },
  ],
};

describe("findNameOfId()", () => {
  test.each<[string, string, string | null]>([
    ["the whole id", web, "web"],
    ["the short id", web.slice(0, 12), "web"],
    ["upper case", web.slice(0, 12).toUpperCase(), "web"],
    ["a few digits that only one begins with", worker.slice(0, 7), "worker"],
    ["digits that two begin with", "5f3a9c", null],
    ["too few digits", "5f3a9", null],
    ["a name", "web", null],
    ["the id of none", "0123456789ab", null],
    ["nothing", "", null],
  ])("of %s", async (_name, text, found) => {
    expect(await findNameOfId(client, text)).toBe(found);
  });
});
