import { describe, expect, test } from "bun:test";
import { fields } from "../../src/forms/fields.ts";
import { say, told } from "../../src/messages/message.ts";
import { TrackerInput } from "../../src/trackers/schema.ts";
import { LeftOut } from "../../templates/components/bulk.tsx";
import { axisEnd, Chart, type ChartProps } from "../../templates/components/chart.tsx";
import { withCode } from "../../templates/components/code.tsx";
import { commonEnds, DiffView } from "../../templates/components/diff.tsx";
import { Help } from "../../templates/components/field.tsx";
import { SafeLink } from "../../templates/components/link.tsx";
import { Toast } from "../../templates/components/notice.tsx";
import { Meter } from "../../templates/components/progress.tsx";
import { State } from "../../templates/components/state.tsx";
import { Table } from "../../templates/components/table.tsx";
import { Time } from "../../templates/components/time.tsx";
import { Digest } from "../../templates/components/version.tsx";
import { DesignPage, type DesignPart, designParts } from "../../templates/design/design.tsx";
import { PlanFailure } from "../../templates/executors/plan.tsx";
import { policyOf } from "../../templates/executors/policy.tsx";
import { type PageContext, url, withQuery } from "../../templates/page.ts";
import { addressOf } from "../../templates/trackers/address.ts";
import { executor } from "../gallery/groups.tsx";
import { sampleContext } from "../gallery/sample-context.ts";
import { galleryPages } from "../gallery/server.tsx";
import { htmlFaults } from "../support/html-faults.ts";

const ctx = sampleContext();

function design(ctx: PageContext, part: DesignPart) {
  return <DesignPage ctx={ctx} part={part} describe={(values) => fields(TrackerInput, values)} />;
}

test("why there is no plan is not repeated when the page says it already", () => {
  const failure = say("request.type_to_confirm", { name: "the engine" });
  const withReason = String(<PlanFailure ctx={ctx} failure={failure} said={null} />);
  expect(withReason).toContain("the engine");
  const where = String(<PlanFailure ctx={ctx} failure={failure} said={failure} said_at="#executor-problem" />);
  expect(where).not.toContain("the engine");
  expect(where).toContain('<a href="#executor-problem">See the reason above</a>');
});

test("what is left out of an action says its name once, and that of a service in its reason", () => {
  const cause = say("phrases.about", { name: "web", said: say("executors.no_release_status") });
  const problem = { code: "target_refused", ...told(say("executors.target_refused", { cause })) };
  const entries = [{ name: "app", href: "/executors/e", problems: [problem] }];
  const shown = String(<LeftOut ctx={ctx} title="1 left out" entries={entries} />).replaceAll(/<[^>]*>/g, " ");
  expect(shown.match(/\bapp\b/g)).toHaveLength(1);
  expect(shown).toContain("The target cannot be updated: &quot;web&quot;: only a Helm release");
});

test.each([
  ["registry.lan:5000", { image: "http://registry.lan:5000/library/nginx" }, "http://registry.lan:5000/library/nginx"],
  ["registry.lan:5000", { image: "registry.lan:5000/app" }, "registry.lan:5000/app"],
  ["codeberg.org", { repository: "https://codeberg.org/acme/app" }, "codeberg.org/acme/app"],
  ["api.github.com", { repository: "acme/app" }, "github.com/acme/app"],
])("the address of a source at %s names its host once", (host, config, address) => {
  expect(addressOf({ host, config })).toBe(address);
});

describe("SafeLink", () => {
  test.each(["https://example.org/x", "http://example.org", "HTTPS://example.org"])("links to %s", (href) => {
    expect(String(<SafeLink ctx={ctx} href={href} />)).toContain(`href="${href}"`);
  });

  test.each([
    "javascript:alert(1)",
    " https://example.org",
    "data:text/html,x",
    "//example.org",
    "/settings",
    "vbscript:x",
    "java\nscript:alert(1)",
  ])("shows %j as text", (href) => {
    expect(String(<SafeLink ctx={ctx} href={href} />)).not.toContain("href");
  });

  test("escapes what it shows", () => {
    expect(String(<SafeLink ctx={ctx} href={'"><img src=x onerror=alert(1)>'} />)).not.toContain("<img");
  });
});

describe("url()", () => {
  test.each([
    ["", "/trackers", "/trackers"],
    ["/sub/path", "/", "/sub/path/"],
    ["/sub", "/trackers?state=x", "/sub/trackers?state=x"],
  ])("prefixes %j to %s", (base_path, path, expected) => {
    expect(url({ base_path }, path)).toBe(expected);
  });

  test("withQuery() sets, keeps and removes parameters", () => {
    expect(withQuery("/a?b=1&c=2", { b: null, d: "x y" })).toBe("/a?c=2&d=x+y");
    expect(withQuery("/a?b=1", { b: "" })).toBe("/a");
  });
});

test.each(["current", "update", "running", "attention", "failed", "unknown", "quiet"] as const)(
  "State %s is told by an icon and a word, not by its colour alone",
  (tone) => {
    const html = String(<State ctx={ctx} tone={tone} />);
    expect(html).toContain("<svg");
    expect(html.replaceAll(/<[^>]*>/g, "").trim()).not.toBe("");
  },
);

test("Time has the absolute moment in the system time zone, and for programs", () => {
  const html = String(<Time ctx={ctx} at={ctx.now - 3 * 3_600_000} />);
  expect(html).toContain('datetime="2026-11-20T17:14:00.000Z"');
  expect(html).toContain('title="Friday 20 November 2026, 18:14:00 CET"');
  expect(html).toContain(">3 hours ago<");
});

test("Digest is short to read and whole in its title", () => {
  const digest = `sha256:${"ab".repeat(32)}`;
  const html = String(<Digest ctx={ctx} value={digest} copy />);
  expect(html).toContain(`title="${digest}"`);
  expect(html).toContain(">sha256:abababababab<");
  expect(html).toContain(`data-copy="${digest}"`);
});

describe("Table", () => {
  const html = String(
    <Table
      ctx={sampleContext({ base_path: "/sub" })}
      caption="Things"
      columns={[
        { key: "name", title: "Name" },
        { key: "count", title: "Count", align: "end" },
      ]}
      rows={[{ id: "r1", href: "/things/1", cells: { name: "<b>one</b>", count: "3" } }]}
    />,
  );

  test("leads from the row to the detail below the base path, and escapes names", () => {
    expect(html).toContain('<a href="/sub/things/1">&lt;b&gt;one&lt;/b&gt;</a>');
  });

  test("names each fact for the card form", () => {
    expect(html).toContain('data-label="Count"');
  });
});

describe("DiffView", () => {
  test.each([
    ["repo:2.18.4", "repo:3.0.5", { start: 5, end: 0 }],
    ["aaa", "aaa", { start: 3, end: 0 }],
    ["abcdef", "uvwxyz", { start: 0, end: 0 }],
    ["aa", "aaa", { start: 2, end: 0 }],
  ])("commonEnds() of %s and %s", (a, b, expected) => {
    expect(commonEnds(a, b)).toEqual(expected);
  });

  test("marks what differs and shows both values whole", () => {
    const html = String(
      <DiffView ctx={ctx} changes={[{ field: "image", before: "repo:2.18.4", after: "repo:3.0.5" }]} carried={41} />,
    );
    expect(html).toContain("repo:<mark>2.18.4</mark>");
    expect(html).toContain("repo:<mark>3.0.5</mark>");
    expect(html).toContain("41 other settings unchanged");
  });
});

test.each([
  [10, 60, "quiet"],
  [48, 60, "attention"],
  [60, 60, "failed"],
])("Meter of %i of %i is %s", (value, max, tone) => {
  expect(String(<Meter label="x" value={value} max={max} />)).toContain(`class="bar ${tone}"`);
});

describe("Chart", () => {
  const series = [
    { title: "Good", tone: "plain" },
    { title: "Bad", tone: "failed" },
  ] as const;
  const draw = (change: Partial<ChartProps>) =>
    String(<Chart ctx={ctx} title="Runs" series={series} points={[]} point_title="Day" empty="No runs." {...change} />);
  const points = [
    { label: "1 Jan", values: [5, 1] },
    { label: "2 Jan", values: [0, 0] },
    { label: "3 Jan", values: [100, 0] },
  ];

  test("has the same numbers in a table, three values at its axis and a sentence for who cannot see it", () => {
    const html = draw({ points });
    expect(html).toContain('aria-label="Runs, 1 Jan to 3 Jan, at most 100; the numbers are in the table below"');
    const rows = [...html.matchAll(/<th scope="row">([^<]*)<\/th><td class="end">(\d+)<\/td><td class="end">(\d+)</g)];
    expect(rows.map(([, ...cells]) => cells)).toEqual([
      ["3 Jan", "100", "0"],
      ["2 Jan", "0", "0"],
      ["1 Jan", "5", "1"],
    ]);
    expect([...html.matchAll(/text-anchor="end">(\d+)</g)].map(([, value]) => value)).toEqual(["0", "50", "100"]);
    expect(html).not.toMatch(/ style=|NaN/);
  });

  test("has two short names below it, however long those in the table are, and one where they are the same", () => {
    const named = (...shorts: string[]) =>
      shorts.map((short, place) => ({ label: `v${place}.0.0-${"nightly-".repeat(20)}`, short, values: [1, 0] }));
    const below = (html: string) =>
      [...html.matchAll(/y="106" text-anchor="(\w+)">([^<]*)</g)].map(([, ...end]) => end);
    const html = draw({ points: named("1 Jan", "2 Jan", "3 Jan") });
    expect(below(html)).toEqual([
      ["start", "1 Jan"],
      ["end", "3 Jan"],
    ]);
    expect(html).toContain('<th scope="row">v1.0.0-nightly-');
    expect(below(draw({ points: named("1 Jan", "1 Jan") }))).toEqual([["start", "1 Jan"]]);
    expect(below(draw({ points: named("1 Jan") }))).toEqual([["start", "1 Jan"]]);
  });

  test("draws what is not zero so that it is seen, failures narrower than the rest, and nothing beyond its room", () => {
    const html = draw({ points });
    const bars = [
      ...html.matchAll(
        /<rect class="chart-(plain|failed)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/g,
      ),
    ];
    const drawn = bars.map(([, tone, , y, width, height]) => ({
      tone,
      y: Number(y),
      width: Number(width),
      height: Number(height),
    }));
    expect(drawn.map(({ tone, height }) => `${tone} ${height > 0}`)).toEqual([
      ...["plain true", "failed true", "plain false", "failed false", "plain true", "failed false"],
    ]);
    expect(drawn[1]?.width).toBeLessThan(drawn[0]?.width ?? 0);
    for (const { y, height } of drawn) {
      expect(y).toBeGreaterThanOrEqual(8);
      expect(y + height).toBeLessThanOrEqual(92.1);
    }
  });

  test("shows a limit, unless everything is far below it", () => {
    const limit = { title: "Limit", value: 60 };
    expect(draw({ points: points.slice(0, 1), limit })).toContain("Limit 60");
    expect(draw({ points: points.slice(0, 1), limit }).match(/chart-limit/g)).toHaveLength(1);
    expect(draw({ points, limit }).match(/chart-limit/g)).toHaveLength(2);
  });

  test("is a sentence while there is nothing to draw", () => {
    for (const html of [draw({}), draw({ points: points.slice(1, 2) })]) {
      expect(html).toContain("No runs.");
      expect(html).not.toContain("<svg");
    }
  });

  test.each([
    [1, 1 * 2],
    [6, 6],
    [7, 10],
    [100, 100],
    [101, 200],
    [0.5, 2],
  ])("of values up to %p ends at %p", (highest, end) => {
    expect(axisEnd(highest)).toBe(end);
  });
});

describe.each([
  ...designParts.map((part) => [`/design?part=${part}`, (ctx: PageContext) => design(ctx, part)] as const),
  ...Object.entries(galleryPages),
])("%s", (_, draw) => {
  const html = String(draw(sampleContext({ base_path: "/sub", assets: (name) => `/sub/assets/${name}` })));

  test("has nothing that the policy refuses, each id once, and a token in each form", () => {
    expect(htmlFaults(html)).toEqual([]);
  });

  test("works below a base path", () => {
    const addresses = [
      ...html.matchAll(/\s(?:href|src|action|hx-get|hx-post|data-poll|hx-sse:connect)="([^"]*)"/g),
    ].map(([, address]) => address ?? "");
    const own = addresses.filter((address) => address.startsWith("/"));
    expect(own.filter((address) => !address.startsWith("/sub/"))).toEqual([]);
  });
});

test("the layout names its language, has one main and one h1, and skips to the content", () => {
  const html = String(design(sampleContext({ language: "zh", theme: "dark" }), "states"));
  expect(html).toStartWith("<!doctype html>");
  expect(html).toContain('<html lang="zh-CN" data-theme="dark"');
  expect(html.match(/<main /g)?.length).toBe(1);
  expect(html.match(/<h1>/g)?.length).toBe(1);
  expect(html).toContain('<a class="skip" href="#content">跳到正文</a>');
  expect(html).toContain("<title>组件 · Tidemark</title>");
});

test.each([
  ["run `docker compose up` <b>", "run <code>docker compose up</code> &lt;b&gt;"],
  ["`a` and `b`", "<code>a</code> and <code>b</code>"],
  // A comma does not begin a line.
  ["`a`, `b`", '<span class="glued"><code>a</code>,</span> <code>b</code>'],
  [
    "填写 `a`，再填写 `b`。",
    '填写 <span class="glued"><code>a</code>，</span>再填写 <span class="glued"><code>b</code>。</span>',
  ],
  ["an odd ` stays", "an odd ` stays"],
])("what is in backquotes is code: %s", (text, html) => {
  expect(String(<p>{withCode(text)}</p>)).toBe(`<p>${html}</p>`);
});

test("a command in the result of an action is code", () => {
  const notice = { tone: "failed" as const, text: "Run `helm ls` first" };
  expect(String(<Toast ctx={ctx} notice={notice} />)).toContain("Run <code>helm ls</code> first");
});

test("a command in the help of a field is code", () => {
  expect(String(<Help id="h" text="As `helm ls` prints" />)).toBe(
    '<p class="help" id="h">As <code>helm ls</code> prints</p>',
  );
});

describe("what makes an update healthy, in the policy of an executor", () => {
  const sample = executor(ctx);
  const timing = { initial_delay_seconds: 5, probe_interval_seconds: 2, total_probe_duration_seconds: 60 };
  const policy = (health_check: Record<string, unknown>, is_declarative: boolean) =>
    policyOf(ctx, {
      ...sample,
      health_check: { ...timing, ...health_check },
      target: { ...sample.target, is_declarative },
    }).filter((each) => /^(?:Healthy|The first probe)/.test(each));
  const timed = "The first probe is sent 5 s after the update, then one every 2 s for up to 60 s.";
  const http = { protocol: "https", host: "::1", port: 8080, path: "/health" };

  test.each([
    [{ strategy: "auto" }, false, ["Healthy when the engine reports the target as ready.", timed]],
    [
      { strategy: "auto" },
      true,
      ["Healthy when the new version has replaced the previous one everywhere and is ready."],
    ],
    [{ strategy: "http", probe: http }, true, ["Healthy when https://[::1]:8080/health responds as expected.", timed]],
    [
      { strategy: "tcp", probe: { host: "db.lan", port: 5432 } },
      false,
      ["Healthy when db.lan:5432 accepts a connection.", timed],
    ],
    [{ strategy: "release" }, true, ["Healthy when Helm reports the release as deployed."]],
  ])("%j, declarative: %p", (check, isDeclarative, said) => {
    expect(policy(check, isDeclarative)).toEqual(said);
  });
});
