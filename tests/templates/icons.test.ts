import { expect, test } from "bun:test";
import { Icon } from "../../templates/components/icon.tsx";
import { icons } from "../../templates/components/icons.ts";

test("every icon is one path of absolute beginnings, in the frame of 24 by 24", () => {
  for (const [name, outline] of Object.entries(icons)) {
    expect([name, outline]).toEqual([name, expect.stringMatching(/^M[-\d.,\sa-zA-Z]+$/)]);
    expect([name, /NaN|undefined|[zZ]m/.test(outline)]).toEqual([name, false]);
  }
});

test("shapes of every kind become parts of the path", () => {
  expect(icons.target).toBe(
    "M2 12a10 10 0 1 0 20 0a10 10 0 1 0 -20 0zM6 12a6 6 0 1 0 12 0a6 6 0 1 0 -12 0zM10 12a2 2 0 1 0 4 0a2 2 0 1 0 -4 0z",
  );
  expect(icons.server).toBe(
    "M4 2h16a2 2 0 0 1 2 2v4a2 2 0 0 1 -2 2h-16a2 2 0 0 1 -2 -2v-4a2 2 0 0 1 2 -2z" +
      "M4 14h16a2 2 0 0 1 2 2v4a2 2 0 0 1 -2 2h-16a2 2 0 0 1 -2 -2v-4a2 2 0 0 1 2 -2z" +
      "M6 6L6.01 6M6 18L6.01 18",
  );
  // The dot of a tag is filled.
  expect(icons.tag).toContain("M7.5 7.5h.01M7 7.5a");
  // A relative beginning, and numbers after it that continue as a line.
  expect(icons["arrow-left"]).toContain("M12 19l-7-7 7-7");
});

test("an icon without a label is hidden from assistive technology", () => {
  expect(String(Icon({ name: "x" }))).toContain('aria-hidden="true"');
  expect(String(Icon({ name: "x", label: "Close" }))).toContain('role="img" aria-label="Close"');
});
