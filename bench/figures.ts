import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";

/** The value below which `share` of the values lie (nearest rank). */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.max(Math.ceil(share * sorted.length) - 1, 0);
  return sorted[rank] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const high = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? Number.NaN) + high) / 2;
}

export interface Figure {
  what: string;
  measured: string;
  /** Empty where there is none. */
  goal?: string;
  /** Left out where there is no goal. */
  met?: boolean;
}

/** Prints a table with aligned columns, and under which conditions it came about. */
export function printFigures(title: string, figures: readonly Figure[]): void {
  const rows = figures.map(({ what, measured, goal = "", met }) => [
    what,
    measured,
    goal,
    met === undefined ? "" : met ? "met" : "MISSED",
  ]);
  const all = [["figure", "measured", "goal", ""], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  console.log(`\n${title}`);
  for (const row of all)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  const load = loadavg().map((value) => value.toFixed(2));
  console.log(`Bun ${Bun.version}, ${cpus().length} cores (${cpus()[0]?.model ?? "?"}), load ${load.join(" ")}\n`);
}

export const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ms`;
export const ratio = (value: number): string => `${value.toFixed(2)}x`;
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
export const kilobytes = (bytes: number): string => `${(bytes / 1e3).toFixed(1)} kB`;

/** Resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(found?.[1] ?? Number.NaN) * 1024;
}

/** Processor time that a process has taken so far, in milliseconds: all its threads, in steps of the kernel's clock of 10 ms. */
export function processorMs(pid: number): number {
  const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user = "", system = ""] = fields.split(" ").slice(11, 13);
  return (Number(user) + Number(system)) * 10;
}

/** Lets the kernel note the most resident memory of this process from here on. */
export function forgetPeak(): void {
  writeFileSync("/proc/self/clear_refs", "5");
}

export function peakBytes(): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? Number.NaN) * 1024;
}

/** A whole number from the command line (`--rounds=8`), between bounds. */
export function countOption(name: string, standard: number, max: number): number {
  const given = process.argv.find((argument) => argument.startsWith(`--${name}=`));
  const value = given === undefined ? standard : Number(given.slice(name.length + 3));
  if (!Number.isInteger(value) || value < 1 || value > max) {
    console.error(`--${name} is a whole number from 1 to ${max}`);
    process.exit(2);
  }
  return value;
}
