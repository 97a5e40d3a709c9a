import { describe, expect, test } from "bun:test";
import { resolve } from "node:path";
import { joinStyles } from "../../src/http/assets.ts";

const css = Buffer.from(joinStyles(resolve(import.meta.dir, "../../public"))).toString();

/** `--ink: light-dark(#161b1a, #e9edec)` of the stylesheet, as two colours. */
const tokens = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)].map(
    ([, name = "", light = "", dark = ""]) => [name, { light, dark }] as const,
  ),
);

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((start) => Number.parseInt(hex.slice(start, start + 2), 16) / 255)
    .map((channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].toSorted((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

function color(name: string, theme: "light" | "dark"): string {
  const token = tokens.get(name);
  if (token === undefined) throw new Error(`app.css has no colour "${name}" with two themes`);
  return token[theme];
}

const grounds = ["ground", "panel", "sunk", "raised"];
const words = ["ink", "ink-2", "ink-3", "update", "running", "attention", "failed", "unknown"];
const pairs: readonly (readonly [string, string])[] = [
  ...words.flatMap((word) => grounds.map((ground) => [word, ground] as const)),
  ...["update", "running", "attention", "failed", "unknown"].map((state) => [state, `${state}-soft`] as const),
  ...["update-soft", "attention-soft", "failed-soft"].flatMap((soft) => [
    ["ink", soft] as const,
    ["ink-2", soft] as const,
  ]),
  ["on-ink", "ink"],
  ["on-brand", "brand"],
  ["ink", "brand-soft"],
  ["brand", "brand-soft"],
  ["brand", "ground"],
  ["panel", "failed"],
];

describe.each(["light", "dark"] as const)("contrast in the %s theme", (theme) => {
  test.each(pairs)("%s on %s is at least 4.5", (word, ground) => {
    expect(contrast(color(word, theme), color(ground, theme))).toBeGreaterThanOrEqual(4.5);
  });

  test.each(["ground", "panel", "raised"])("the edge of an input and the focus ring on %s are at least 3", (ground) => {
    expect(contrast(color("edge", theme), color(ground, theme))).toBeGreaterThanOrEqual(3);
    expect(contrast(color("focus", theme), color(ground, theme))).toBeGreaterThanOrEqual(3);
  });
});

test("contrast() of black on white is 21", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 5);
});
