// What it costs to parse, judge and order many tags, beside the package `semver` on those that it takes. See README.md.
import * as v from "valibot";
import { type ChannelRules, judge } from "../src/versions/channel.ts";
import { classify } from "../src/versions/classify.ts";
import { orderTags } from "../src/versions/order.ts";
import { compareInFamily } from "../src/versions/precedence.ts";
import { randomFrom } from "../tests/support/random.ts";
import { tagOfShape } from "../tests/support/tag-shapes.ts";
import { countOption, type Figure, median, ms, printFigures, ratio } from "./figures.ts";

/** What is used of the package, which has no types of its own. */
const Semver = v.object({ parse: v.function(), compareBuild: v.function() });

async function loadSemver() {
  // Not a literal, so that nothing but this script asks for the package.
  const name = "semver";
  const library: unknown = await import(name);
  return v.parse(Semver, v.is(v.object({ default: Semver }), library) ? library.default : library);
}

/** The largest list that a registry is read to. */
const tagsPerList = 10_000;
const rules: ChannelRules = { include: "^v?\\d+\\.\\d+", exclude: "-(alpha|beta|rc)", release_type: null };

/** CPU of all threads in ms: wall time says more of what else the machine does. */
function timed(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function differentTags(count: number): string[] {
  const random = randomFrom(1);
  const tags = new Set<string>();
  while (tags.size < count) tags.add(tagOfShape(random, 60));
  return [...tags];
}

function listsOf(tags: readonly string[]): string[][] {
  const lists: string[][] = [];
  for (let start = 0; start < tags.length; start += tagsPerList) lists.push(tags.slice(start, start + tagsPerList));
  return lists;
}

function timeProduct(tags: readonly string[]) {
  const lists = listsOf(tags);
  return {
    parse: timed(() => tags.forEach((tag) => void classify(tag))),
    judge: timed(() => tags.forEach((tag) => void judge({ tag, stage: "tag" }, rules))),
    order: timed(() => lists.forEach((list) => void orderTags(list, "stable"))),
    whole: timed(() => void orderTags(tags, "stable")),
    list: Math.max(...lists.slice(0, 10).map((list) => timed(() => void orderTags(list, "stable")))),
  };
}

const count = countOption("tags", 1_000_000, 5_000_000);
const rounds = countOption("rounds", 3, 20);
const { parse, compareBuild } = await loadSemver();
const tags = differentTags(count);
const common = tags.filter((tag) => parse(tag) !== null);

const runs: ReturnType<typeof timeProduct>[] = [];
const pairs: { product: number; library: number; productSort: number; librarySort: number }[] = [];
for (let round = 0; round <= rounds; round += 1) {
  const run = timeProduct(tags);
  const ours = common.map((tag) => classify(tag));
  const theirs = common.map((tag) => parse(tag));
  const pair = {
    product: timed(() => common.forEach((tag) => void classify(tag))),
    library: timed(() => common.forEach((tag) => void parse(tag))),
    productSort: timed(() => ours.sort(compareInFamily)),
    librarySort: timed(() => theirs.sort((a, b) => Number(compareBuild(a, b)))),
  };
  // The first round warms up.
  if (round === 0) continue;
  runs.push(run);
  pairs.push(pair);
}

const of = (name: keyof (typeof runs)[number]) => median(runs.map((run) => run[name]));
const against = (a: keyof (typeof pairs)[number], b: keyof (typeof pairs)[number]) =>
  `${ratio(median(pairs.map((pair) => pair[a] / pair[b])))}: ${ms(median(pairs.map((pair) => pair[a])))} against ${ms(median(pairs.map((pair) => pair[b])))}`;
const each = (time: number, among: number) => `${ms(time)}, ${((time * 1000) / among).toFixed(2)} µs a tag`;
const figures: Figure[] = [
  { what: "parse", measured: each(of("parse"), count) },
  { what: "judge by two patterns", measured: each(of("judge"), count) },
  { what: `order, lists of ${tagsPerList}`, measured: each(of("order"), count) },
  { what: "order, one list", measured: each(of("whole"), count) },
  { what: `longest of 10 lists of ${tagsPerList}`, measured: ms(of("list")) },
  { what: `parse, ${common.length} that semver takes`, measured: against("product", "library") },
  { what: "sort those, parsed", measured: against("productSort", "librarySort") },
];
printFigures(`${count} tags, CPU, median of ${rounds} rounds`, figures);
