// The whole test command: several `bun test` processes at once, because most of the time of the suites on real peers is waiting.
// Each suite on real peers has a process and a folder for temporary files of its own, and shares nothing with the others. The fast layer
// runs at another date instead of today's, and what deals with dates at a third one, where they can be had. What fails runs once more,
// alone: what passes then is named as unsteady, with its failure, and is a race to be found. Arguments, a file or a flag, go to a single
// `bun test` instead. The last line is `N passed, N failed`.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { allEngineModes } from "./peers/engine.ts";
import { type FakedDate, fakedDates, fakedDatesMissing, fakedEnvironment } from "./support/faked-dates.ts";
import { arePeersRequired, namesPeers } from "./support/peer.ts";
import { countProcessorTime, forgetProcessorTimes } from "./support/processor-time.ts";
import { makeTemporaryFolder, removeTemporaryFolder } from "./support/temporary-folder.ts";

const root = join(import.meta.dir, "..");
/** Over twice the cores of a small machine, since they wait for half of the time; not many, since engines and browsers take memory. */
const lanes = Math.min(Math.max(availableParallelism() * 2 + 1, 3), 6);
/** What takes minutes begins first, by the table at a run's end, so that nothing long is left for one lane. The others follow by size. */
const longest = [
  "key-rotation",
  "journeys",
  "compose-story",
  "engine-configs",
  "break-glass-podman",
  "portainer",
  "outage",
  "helm-releases",
  "engine-crash",
  "engine-adversity",
  "run-crash",
  "compose-fidelity",
  "engine-group-crash",
  "every-page",
  "break-glass",
  "engine-fidelity",
  "request-budget",
  "approval",
  "engine",
  "helm-crash",
  "image",
  "engine-groups",
  "awaited-ends",
  "remote-database",
  "design",
  "kubernetes-faults",
  "kubernetes",
  "oidc-browser",
  "outage-by-hand",
  "server-crash",
  "schemathesis",
  "kubernetes-scale",
];

/**
 * Of a test that names no limit of its own. The runner's five seconds would be an assertion on how busy the machine is; and when a
 * test has timed out, it kills the processes of the whole file, the engine too.
 */
const limitMs = 60_000;

/** A process that has said nothing for so long, far longer than any test takes, hangs: it fails, and the others go on. */
const silenceLimitMs = 15 * 60_000;

/**
 * Suites with a browser and without engines have a network of their own, where that can be had: a browser drops its requests whenever a
 * network interface comes or goes, as those of containers do beside it.
 */
const usesBrowser = /peers\/chromium\.ts"/;
const usesEngine = /\b(startEngine|startStory|startCluster|storyMissing)\b/;
const isolate = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$0" "$@"'] as const;
const canIsolate = process.getuid?.() === 0 && spawnSync(isolate[0], [...isolate.slice(1), "true"]).status === 0;

/** One process would be the last one to end: it uses one core, and half of that. */
const wholeLayerParts = 2;

/** With more failures than that, something is broken, and running it again tells nothing new. */
const mostAgain = 4;

interface Share {
  title: string;
  args: readonly string[];
  weight: number;
  date?: FakedDate;
  isApart?: boolean;
}

interface Outcome {
  title: string;
  passed: number;
  failed: number;
  skipped: number;
  /** Lines to be said again at the end: failed tests, and suites that had to be skipped. */
  notes: readonly string[];
  /** What was printed before each failure, said again at the end. */
  faults: readonly string[];
  /** The suites on real peers that ran, by their names. */
  peers: readonly string[];
  /** What it took; of the processor null where nothing counts that. */
  seconds: number;
  processor_seconds: number | null;
}

type Judged = Omit<Outcome, "seconds" | "processor_seconds">;

const running = new Set<ChildProcess>();

/**
 * The fast layer as one share for each date and one for what starts servers, and each file that needs real peers as another; the
 * longest first.
 */
function shares(): Share[] {
  const folder = join(root, "tests/real");
  const files = readdirSync(folder).filter((name) => /\.test\.tsx?$/.test(name));
  const real = files.map((name) => {
    const rank = longest.findIndex((each) => name.startsWith(`${each}.`));
    const weight = rank < 0 ? statSync(join(folder, name)).size : 1e9 - rank;
    const text = readFileSync(join(folder, name), "utf8");
    const isApart = usesBrowser.test(text) && !usesEngine.test(text);
    return { title: `tests/real/${name}`, args: [`./${relative(root, join(folder, name))}`], weight, isApart };
  });
  const weight = 1e8;
  const layer = fastFiles();
  // What starts processes starts them at the system's date.
  const starts = /support\/(server|installation|scrambled-words)\.ts"/;
  const faked = fakedDates.flatMap((date) => {
    const files = layer.filter(({ text }) => !starts.test(text) && (date.files?.test(text) ?? true));
    const parts = date.files === null ? wholeLayerParts : 1;
    return Array.from({ length: parts }, (_, part) => ({
      title: `the fast layer ${date.title}${parts === 1 ? "" : `, part ${part + 1}`}`,
      args: files.filter((_file, index) => index % parts === part).map(({ path }) => path),
      weight,
      date,
    }));
  });
  const servers = layer.filter(({ text }) => starts.test(text)).map(({ path }) => path);
  const fast =
    fakedDatesMissing() === null
      ? { title: "the fast layer's own processes", args: servers, weight }
      : { title: "the fast layer", args: ["--path-ignore-patterns", "tests/real/**"], weight };
  return [...real, fast, ...faked].sort((a, b) => b.weight - a.weight);
}

function fastFiles(): { path: string; text: string }[] {
  const files = readdirSync(join(root, "tests"), { recursive: true, encoding: "utf8" });
  const fast = files.filter((file) => /\.test\.tsx?$/.test(file) && !file.startsWith("real/"));
  return fast.map((file) => ({ path: `./tests/${file}`, text: readFileSync(join(root, "tests", file), "utf8") }));
}

function startTests(
  args: readonly string[],
  stdio: "inherit" | "pipe",
  isApart = false,
  env: Readonly<Record<string, string>> = {},
): ChildProcess {
  const [command, ...rest] = [...(isApart ? isolate : []), process.execPath, "test", `--timeout=${limitMs}`, ...args];
  const child = spawn(command ?? process.execPath, rest, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", stdio, stdio],
  });
  running.add(child);
  child.once("close", () => running.delete(child));
  return child;
}

async function perform({ title, args, date, isApart }: Share): Promise<Outcome> {
  const missing = date === undefined ? null : fakedDatesMissing();
  if (missing !== null) {
    const note = arePeersRequired ? `(fail) ${title}: ${missing}` : `skipped: ${title}: ${missing}`;
    const nothing = { passed: 0, skipped: 0, faults: [], peers: [], seconds: 0, processor_seconds: null };
    return { ...nothing, title, failed: arePeersRequired ? 1 : 0, notes: [note] };
  }
  const startedAt = performance.now();
  const folder = makeTemporaryFolder();
  const env = { TMPDIR: folder, ...(date === undefined ? {} : fakedEnvironment(date)) };
  const child = startTests(args, "pipe", canIsolate && isApart === true, env);
  const processor = countProcessorTime(child.pid);
  const chunks: Buffer[] = [];
  let silence: NodeJS.Timeout | null = null;
  const end = await new Promise<number | string>((resolve) => {
    const heard = () => {
      clearTimeout(silence ?? undefined);
      silence = setTimeout(() => {
        child.kill("SIGKILL");
        resolve(`nothing said for ${silenceLimitMs / 60_000} minutes`);
      }, silenceLimitMs);
    };
    heard();
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        heard();
      });
    }
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(code ?? signal ?? "no code"));
  });
  clearTimeout(silence ?? undefined);
  const processorSeconds = processor?.end() ?? null;
  forgetProcessorTimes();
  removeTemporaryFolder(folder);
  const output = Buffer.concat(chunks).toString();
  const tookMs = performance.now() - startedAt;
  const judged = judge(title, output, tookMs < (date?.leastMs ?? 0) ? "its date still ahead" : end);
  // The same test may fail at one date alone, and a hook that fails has no name.
  const outcome = {
    ...judged,
    notes: judged.notes.map((note) => (note.includes(title) ? note : `${note}, ${title}`)),
    seconds: Math.round(tookMs / 1000),
    processor_seconds: processorSeconds,
  };
  console.log(`== ${title}\n${output.trimEnd()}\n== ${title}: ${told(outcome)}, in ${took(outcome).join(", ")}\n`);
  return outcome;
}

/** How much of the output before a failure is said again. */
const faultLines = 30;
const mostFaults = 8;

/** What was printed before each failure, by its first mention. */
function faultsIn(title: string, lines: readonly string[]): string[] {
  const isFirst = (line: string, index: number) => line.startsWith("(fail) ") && lines.indexOf(line) === index;
  return lines.flatMap((line, index) =>
    isFirst(line, index)
      ? [[`== ${title}`, ...lines.slice(Math.max(0, index - faultLines), index + 1)].join("\n")]
      : [],
  );
}

/** Reads what `bun test` says at its end. An end without that, or with an error of its own, counts as a failure. */
function judge(title: string, output: string, end: number | string): Judged {
  const sum = (word: string) => Number([...output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, "gm"))].at(-1)?.[1] ?? 0);
  const [passed, failed, skipped] = [sum("pass"), sum("fail"), sum("skip")];
  const lines = output.split("\n");
  // Failed tests are listed once where they are met and once at the end.
  const notes = [...new Set(lines.filter((line) => /^\(fail\) |^skipped: /.test(line)))];
  const faults = faultsIn(title, lines);
  const peers = lines.flatMap((line) => (line.startsWith(namesPeers) ? [line.slice(namesPeers.length)] : []));
  const trouble =
    end !== 0 && failed === 0 ? `ended with ${end}` : passed + failed + skipped === 0 ? "ran no test" : null;
  if (trouble === null) {
    const isNamed = failed === 0 || notes.some((line) => line.startsWith("(fail)"));
    const all = isNamed ? notes : [...notes, `(fail) ${title} outside its tests`];
    return { title, passed, failed, skipped, notes: all, faults, peers };
  }
  return { title, passed, failed: failed + 1, skipped, notes: [...notes, `(fail) ${title} ${trouble}`], faults, peers };
}

function told({ passed, failed, skipped }: Pick<Outcome, "passed" | "failed" | "skipped">): string {
  return `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}

/** `655 s` and, where it was counted, `cpu 210 s`. */
function took({ seconds, processor_seconds }: Pick<Outcome, "seconds" | "processor_seconds">): string[] {
  return [`${seconds} s`, ...(processor_seconds === null ? [] : [`cpu ${processor_seconds} s`])];
}

/** What each process took, the longest first, and on which engines; then how many suites on real peers there were. */
function table(outcomes: readonly Outcome[]): string[] {
  const rows = [...outcomes].sort((a, b) => b.seconds - a.seconds);
  const lines = rows.map((outcome) => {
    const modes = [
      ...new Set(outcome.peers.map((name) => allEngineModes.find((mode) => name.startsWith(`${mode}: `)))),
    ];
    const engines = modes.filter((mode) => mode !== undefined).join(", ");
    const times = took(outcome)
      .map((time) => time.padStart(10))
      .join("");
    return `${times}  ${outcome.title}${engines === "" ? "" : ` (${engines})`}`;
  });
  const ran = outcomes.reduce((sum, { peers }) => sum + peers.length, 0);
  const skipped = outcomes.flatMap(({ notes }) => notes.filter((note) => note.startsWith("skipped: "))).length;
  const counted = outcomes.reduce((sum, each) => sum + (each.processor_seconds ?? 0), 0);
  return [
    ...lines,
    `== in all cpu ${counted} s; suites on real peers: ${ran} ran, ${skipped} skipped${skipped === 0 ? "" : ", as told below"}`,
  ];
}

/** Runs alone what failed beside others. Both outcomes are told. */
async function performAgain(share: Share, first: Outcome): Promise<Outcome> {
  console.log(`== ${share.title}: once more, alone`);
  const second = await perform(share);
  const seconds = first.seconds + second.seconds;
  if (second.failed > 0) return { ...second, seconds };
  const unsteady = first.notes.map((note) => note.replace(/^\(fail\)/, "unsteady, passed alone:"));
  return { ...second, seconds, notes: [...new Set([...second.notes, ...unsteady])], faults: first.faults };
}

async function performAll(): Promise<number> {
  const waiting = shares();
  const outcomes: Outcome[] = [];
  const failed: { share: Share; outcome: Outcome }[] = [];
  const lane = async () => {
    for (let share = waiting.shift(); share !== undefined; share = waiting.shift()) {
      const outcome = await perform(share);
      if (outcome.failed > 0) failed.push({ share, outcome });
      else outcomes.push(outcome);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  const isHopeless = failed.length > mostAgain;
  for (const { share, outcome } of failed) outcomes.push(isHopeless ? outcome : await performAgain(share, outcome));
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const each of outcomes) {
    total.passed += each.passed;
    total.failed += each.failed;
    total.skipped += each.skipped;
  }
  if (total.passed === 0 && total.failed === 0) total.failed = 1;
  for (const fault of outcomes.flatMap(({ faults }) => faults).slice(0, mostFaults)) console.log(`${fault}\n`);
  forgetProcessorTimes();
  for (const line of table(outcomes)) console.log(line);
  console.log(`== summary: ${outcomes.length} processes of bun test, ${told(total)}`);
  for (const note of [...new Set(outcomes.flatMap(({ notes }) => notes))].sort()) console.log(note);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    for (const child of running) child.kill(signal);
    process.exit(signal === "SIGINT" ? 130 : 143);
  });
}

const args = process.argv.slice(2);
if (args.length > 0) {
  startTests(args, "inherit").once("close", (code) => process.exit(code ?? 1));
} else {
  process.exit(await performAll());
}
