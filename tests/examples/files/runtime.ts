import { existsSync } from "node:fs";
import { copyFile, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import * as v from "valibot";
import { PluginError } from "../../../src/errors.ts";
import { plain, toldAs } from "../../../src/messages/message.ts";
import type { Journal, JournalEntry } from "../../../src/runtimes/journal.ts";
import type { Change, UpdatePlan } from "../../../src/runtimes/plan.ts";
import type { Runtime, RuntimeContext } from "../../../src/runtimes/runtime.ts";
import type { Prepared, RuntimeSession } from "../../../src/runtimes/session.ts";
import type { Target, TargetRef } from "../../../src/runtimes/target.ts";
import type { StepKind, TargetKind } from "../../../src/runtimes/target-kind.ts";

/**
 * The worked example of docs/plug-ins.md: a versioned file on disk, deployed by writing it. Its first line says `name version`, the
 * rest is its content. Versions are those of a chart repository, which has the files beside its index.
 */

type Words = readonly [waiting: string, running: string, done: string, failed: string];

function step(name: string, phase: StepKind["phase"], [waiting, running, done, failed]: Words): StepKind {
  const words = { waiting: plain(waiting), running: plain(running), done: plain(done), failed: plain(failed) };
  return { name, phase, words, touches: name === "write", is_expected: name !== "undo" };
}

const file: TargetKind = {
  kind: "file",
  title: plain("File"),
  is_group: false,
  is_declarative: false,
  artifact: "chart",
  steps: [
    step("download", "prepare", [
      "Download the file",
      "Downloading the file",
      "File downloaded",
      "File not downloaded",
    ]),
    step("keep", "change", ["Keep the previous file", "Keeping the previous file", "Previous file kept", "Not kept"]),
    step("write", "change", ["Write the new file", "Writing the new file", "New file written", "New file not written"]),
    step("undo", "change", ["Restore the file", "Restoring the file", "Previous file restored", "File not restored"]),
    step("remove_kept", "finish", ["Remove the copy", "Removing the copy", "Copy removed", "Copy not removed"]),
  ],
  parts: (detail) => {
    const { file: name } = v.parse(v.object({ file: v.string() }), detail);
    return [{ name, service: "main", is_running: true }];
  },
};

const Config = v.strictObject({
  folder: v.pipe(v.string(), v.startsWith("/", "The folder begins with a slash"), v.title("Folder")),
  url: v.pipe(v.string(), v.url("An http address"), v.title("Where the versions lie")),
});

/** `beforeStep` is where a test looks, or ends the process: before a step (`write`) and before its end is journalled (`write finish`). */
export function fileRuntime(beforeStep: (name: string) => Promise<void> = async () => undefined): Runtime {
  return {
    kind: "files",
    title: "Files",
    Config,
    target_kinds: [file],
    open: async (config, _secret, context) => openFolder(v.parse(Config, config), context, beforeStep),
    place: (config) => resolve(v.parse(Config, config).folder),
    warnings: () => [],
  };
}

/** What a file should be; by its text if that is known beforehand. */
interface Wanted {
  reference: string;
  text?: string;
}

interface Found {
  name: string;
  version: string;
  text: string;
}

async function read(path: string): Promise<Found | null> {
  if (!existsSync(path)) return null;
  const text = await readFile(path, "utf8");
  const [name = "", version = ""] = text.split("\n")[0]?.split(" ") ?? [];
  return { name, version, text };
}

const referenceOf = ({ name, version }: Pick<Found, "name" | "version">) => `${name}-${version}`;
const hashOf = (value: unknown) => new Bun.CryptoHasher("sha256").update(JSON.stringify(value)).digest("hex");

function openFolder(
  { folder, url }: v.InferOutput<typeof Config>,
  { fetch }: RuntimeContext,
  beforeStep: (name: string) => Promise<void>,
): RuntimeSession {
  const at = ({ id }: TargetRef) => ({
    current: join(folder, id),
    next: join(folder, `${id}.next`),
    kept: join(folder, `${id}.kept`),
  });
  const find = async (ref: TargetRef): Promise<Found> => {
    const found = await read(at(ref).current);
    if (found === null) throw new PluginError("not_found", plain(`There is no file ${ref.id}`));
    return found;
  };
  const targetOf = async (ref: TargetRef): Promise<Target> => {
    const { name, version } = await find(ref);
    const artifact = { kind: "chart", reference: `${name}-${version}`, digest: null, name, version } as const;
    return {
      ref,
      name: ref.id,
      services: [{ name: "main", containers: [], artifact: { ...artifact, app_version: null }, state: "running" }],
      refusals: [],
      warnings: [],
      labels: {},
    };
  };
  const journalled = async (journal: Journal, name: string, work: () => Promise<Record<string, unknown>>) => {
    await journal.begin(name);
    try {
      await beforeStep(name);
      const facts = await work();
      await beforeStep(`${name} finish`);
      await journal.finish(name, facts);
    } catch (error) {
      if (error instanceof PluginError) await journal.fail(name, toldAs("error", error.said));
      throw error;
    }
  };

  const planTo = async (ref: TargetRef, to: Wanted, changes: readonly Change[]) => {
    const found = await find(ref);
    const isNoop = to.text === undefined ? to.reference === referenceOf(found) : to.text === found.text;
    const plan: UpdatePlan = {
      ref,
      changes,
      services: [
        {
          service: "main",
          from: { reference: referenceOf(found), digest: null, image_id: "", is_running: true },
          to: { reference: to.reference, digest: null, is_running: true },
        },
      ],
      detail: { file: at(ref).current },
      order: "stop_first",
      drain_seconds: 0,
      owed: [],
      files: [],
      diff: isNoop
        ? []
        : [{ service: "main", path: "version", before: referenceOf(found), after: to.reference, because: "desired" }],
      carried: {},
      refusals: [],
      warnings: [],
      is_noop: isNoop,
      hash: hashOf([ref, found.text, to]),
    };
    return plan;
  };

  /** The text of the new version is beside the file; the file is as it was planned until `apply` has looked again. */
  const prepared = (plan: UpdatePlan, wanted: Wanted, journal: Journal): Prepared => ({
    is_noop: plan.is_noop,
    apply: async () => {
      const { current, next, kept } = at(plan.ref);
      const { hash } = await planTo(plan.ref, wanted, plan.changes);
      if (hash !== plan.hash) {
        throw new PluginError("rejected", plain("The file was changed since"));
      }
      await journalled(journal, "keep", async () => {
        await copyFile(current, `${kept}.part`);
        await rename(`${kept}.part`, kept);
        return {};
      });
      await journalled(journal, "write", async () => {
        await rename(next, current);
        return {};
      });
    },
  });
  const putBack = async (ref: TargetRef): Promise<void> => {
    const { current, next, kept } = at(ref);
    if (existsSync(kept)) await rename(kept, current);
    await rm(next, { force: true });
  };

  return {
    ping: async () => {
      await stat(folder);
    },
    describe: async () => {
      await stat(folder);
      return { version: "1", api_version: "1", platform: "disk", warnings: [] };
    },
    discover: async () => {
      const names = (await readdir(folder)).filter((name) => !/\.(next|kept|part)$/.test(name));
      return await Promise.all(names.map((id) => targetOf({ kind: "file", id })));
    },
    inspect: targetOf,
    plan: async (ref, changes) => {
      const [change] = changes;
      if (change?.kind !== "chart") throw new Error("A file follows a chart");
      return await planTo(ref, { reference: change.reference }, changes);
    },
    prepare: async (plan, _auths, journal) => {
      const reference = plan.services[0]?.to.reference ?? "";
      await journalled(journal, "download", async () => {
        const answer = await fetch(new URL(`${url}/${reference}`));
        if (answer.status !== 200) throw new PluginError("not_found", plain(`It answered ${answer.status}`));
        const text = await answer.text();
        await writeFile(at(plan.ref).next, text);
        return { bytes: text.length };
      });
      return prepared(plan, { reference }, journal);
    },
    unprepare: async () => undefined,
    undo: async (ref, journal) => {
      await journalled(journal, "undo", async () => {
        await putBack(ref);
        return { state: "untouched" };
      });
      return { state: "untouched", detail: plain("The previous file is back") };
    },
    finish: async (ref, journal) => {
      const { kept, next } = at(ref);
      await journalled(journal, "remove_kept", async () => {
        await rm(kept, { force: true });
        await rm(next, { force: true });
        return {};
      });
    },
    recover: async (ref, journal) => {
      const { next, kept } = at(ref);
      const has = (name: string, phase: JournalEntry["phase"]) =>
        journal.entries().some((entry) => entry.step === name && entry.phase === phase);
      // What lies on the disk counts; the journal tells apart only what looks the same there.
      if (existsSync(kept) && !existsSync(next) && !has("undo", "begin")) {
        return { state: "started", detail: plain("The new file is in place") };
      }
      if (!existsSync(kept) && has("remove_kept", "begin")) {
        return { state: "finished", detail: plain("The new file is in place") };
      }
      // Until the new file has taken the name, what was kept is a copy of what is there.
      await putBack(ref);
      return { state: "untouched", detail: plain("The previous file is in place") };
    },
    readiness: async (ref) => {
      const { text } = await find(ref);
      return text.includes("broken")
        ? { ready: false, final: true, detail: plain("The file says that it is broken") }
        : { ready: true, detail: plain("The file is whole") };
    },
    findEnd: async (ref) => (existsSync(at(ref).current) ? null : plain("The file was removed")),
    standing: async (ref, _journal, { before }) => {
      const found = await read(at(ref).current);
      const facts = { reference: found === null ? null : referenceOf(found) };
      return {
        facts,
        changed: before !== null && before.reference !== facts.reference ? plain("Somebody wrote the file") : null,
        is_up: found !== null,
        readiness: { ready: found !== null, detail: plain("Looked at") },
      };
    },
    snapshots: {
      capture: async (ref) => JSON.stringify(await find(ref)),
      planRestore: async (ref, snapshot) => {
        const { name, version, text }: Found = JSON.parse(snapshot);
        return await planTo(ref, { reference: `${name}-${version}`, text }, []);
      },
      prepareRestore: async (plan, snapshot, _auths, journal) => {
        const { name, version, text }: Found = JSON.parse(snapshot);
        await writeFile(at(plan.ref).next, text);
        return prepared(plan, { reference: `${name}-${version}`, text }, journal);
      },
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}
