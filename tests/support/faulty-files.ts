// Stands in for `node:fs` in the product's files (see faulty-files-preload.ts): counts the operations, and fails the chosen one.
import * as real from "node:fs";

export * from "node:fs";

export const faultCodes = ["ENOSPC", "EIO", "EXDEV", "EACCES", "ENOENT", "EROFS"] as const;
/** An error of the file system; the process is gone at once, or (`dies`) as good as gone: nothing that it does has an effect. */
export type Fault = (typeof faultCodes)[number] | "kill" | "dies";

interface Plan {
  /** Which operation, from 1; or the name of a file: the one after that file is put in place. */
  at: number | string;
  fault: Fault;
}

let plan: Plan | null = null;
let count = 0;
let isDead = false;
let names: string[] = [];

/** Fails the chosen operation; null lets all of them be. Counting begins again. */
export function failAt(chosen: Plan | null): void {
  plan = chosen;
  count = 0;
  isDead = false;
  names = [];
}

/** What was done since. */
export const operations = (): readonly string[] => names;

function fail(fault: Fault, name: string, args: readonly unknown[]): never {
  const isWrite = name === "writeFileSync" && typeof args[0] === "number";
  const content = args[1];
  // What a power failure cuts off is half there.
  if (isWrite && content instanceof Uint8Array) real.writeSync(Number(args[0]), content, 0, content.length >> 1);
  if (fault === "kill") process.kill(process.pid, "SIGKILL");
  if (fault === "dies") isDead = true;
  throw Object.assign(new Error(`${fault}: injected, ${name} ${String(args[0])}`), { code: fault });
}

function watched<A extends unknown[], R>(name: string, perform: (...args: A) => R): (...args: A) => R {
  return (...args) => {
    count += 1;
    names.push(name);
    if (isDead) throw new Error(`${name} after the end`);
    if (plan !== null && plan.at === count) fail(plan.fault, name, args);
    const result = perform(...args);
    if (plan !== null && name === "renameSync" && String(args[1]).endsWith(`/${plan.at}`)) plan.at = count + 1;
    return result;
  };
}

export const openSync = watched("openSync", real.openSync);
export const fsyncSync = watched("fsyncSync", real.fsyncSync);
export const readSync = watched("readSync", real.readSync as (...args: unknown[]) => number);
export const writeFileSync = watched("writeFileSync", real.writeFileSync);
export const renameSync = watched("renameSync", real.renameSync);
export const rmSync = watched("rmSync", real.rmSync);
export const mkdirSync = watched("mkdirSync", real.mkdirSync as (...args: unknown[]) => unknown);
export const readdirSync = watched("readdirSync", real.readdirSync as (...args: unknown[]) => unknown);
export const readFileSync = watched("readFileSync", real.readFileSync as (...args: unknown[]) => unknown);
export const realpathSync = watched("realpathSync", real.realpathSync as (...args: unknown[]) => unknown);
export const lstatSync = watched("lstatSync", real.lstatSync as (...args: unknown[]) => unknown);
export const fstatSync = watched("fstatSync", real.fstatSync as (...args: unknown[]) => unknown);
const stat = watched("statSync", real.statSync as (...args: unknown[]) => unknown);
export const statSync = (path: string, options?: { throwIfNoEntry?: boolean }) => {
  try {
    return stat(path, options);
  } catch (error) {
    // As the real one: "no such file" is an answer where it was asked for.
    if (options?.throwIfNoEntry === false && error instanceof Error && "code" in error && error.code === "ENOENT")
      return;
    throw error;
  }
};
export const existsSync = (path: string) => {
  try {
    return watched("existsSync", real.existsSync)(path);
  } catch {
    return false;
  }
};
