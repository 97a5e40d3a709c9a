import { describe, expect, test } from "bun:test";
import { parseChallenges } from "../../../src/sources/oci/challenge.ts";

type Row = [header: string, challenges: readonly [string, Record<string, string>][]];

const rows: readonly Row[] = [
  ["", []],
  ["Basic", [["basic", {}]]],
  ['Basic realm="a"', [["basic", { realm: "a" }]]],
  ['BASIC Realm = "a" , charset="UTF-8"', [["basic", { realm: "a", charset: "UTF-8" }]]],
  [
    'Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:library/nginx:pull"',
    [
      [
        "bearer",
        {
          realm: "https://auth.docker.io/token",
          service: "registry.docker.io",
          scope: "repository:library/nginx:pull",
        },
      ],
    ],
  ],
  [
    'Bearer realm="https://a/t",scope="repository:x:pull,push", Basic realm="b"',
    [
      ["bearer", { realm: "https://a/t", scope: "repository:x:pull,push" }],
      ["basic", { realm: "b" }],
    ],
  ],
  [
    'Negotiate, Basic realm="b"',
    [
      ["negotiate", {}],
      ["basic", { realm: "b" }],
    ],
  ],
  [
    'Negotiate YII=, Bearer realm="r"',
    [
      ["negotiate", {}],
      ["bearer", { realm: "r" }],
    ],
  ],
  ["Bearer realm=https://a/t?x=1,service=s", [["bearer", { realm: "https://a/t?x=1", service: "s" }]]],
  ['Bearer realm="a\\"b\\\\c"', [["bearer", { realm: 'a"b\\c' }]]],
  ['Bearer realm="first",realm="second"', [["bearer", { realm: "first" }]]],
  ['Bearer realm="not closed', [["bearer", { realm: "not closed" }]]],
  ['realm="of nobody"', []],
  ['=="",,, "loose"', [["loose", {}]]],
];

describe("parseChallenges()", () => {
  test.each(rows)("reads %p", (header, expected) => {
    const found = parseChallenges(header).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)]);
    expect(found).toEqual(expected.map(([scheme, parameters]) => [scheme, parameters]));
  });

  test("reads nothing where there is no header", () => {
    expect(parseChallenges(null)).toEqual([]);
  });

  test("joins several headers as the platform does", () => {
    const headers = new Headers();
    headers.append("www-authenticate", 'Bearer realm="r",service="s"');
    headers.append("www-authenticate", 'Basic realm="b"');
    const found = parseChallenges(headers.get("www-authenticate"));
    expect(found.map((challenge) => challenge.scheme)).toEqual(["bearer", "basic"]);
  });

  test("reads at most 8 KiB of a hostile header", () => {
    const found = parseChallenges("a ".repeat(1_000_000));
    expect(found.length).toBeGreaterThan(1);
    expect(found.length).toBeLessThanOrEqual(4_096);
  });
});
