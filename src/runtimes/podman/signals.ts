/** Linux's signals by number, from 1 on. */
const names: readonly string[] = [
  ...["HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM"],
  ...["TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF"],
  ...["WINCH", "IO", "PWR", "SYS"],
];

const firstRealTime = 34;
const lastRealTime = 64;

/** `SIGTERM` for 15, `15`, `TERM` and `SIGTERM`; an unknown signal comes back as text. */
export function signalName(signal: unknown): string {
  const number = signalNumber(signal);
  if (number === null) return typeof signal === "string" ? signal : "";
  if (number >= firstRealTime) return number === firstRealTime ? "SIGRTMIN" : `SIGRTMIN+${number - firstRealTime}`;
  return `SIG${names[number - 1]}`;
}

/** Null for an unknown signal, and for 0, which means none. */
export function signalNumber(signal: unknown): number | null {
  if (typeof signal === "number" || (typeof signal === "string" && /^[0-9]+$/.test(signal))) {
    const number = Number(signal);
    return (number >= 1 && number <= names.length) || (number >= firstRealTime && number <= lastRealTime)
      ? number
      : null;
  }
  if (typeof signal !== "string") return null;
  const bare = signal.toUpperCase().replace(/^SIG/, "");
  const realTime = /^RT(MIN|MAX)([+-][0-9]+)?$/.exec(bare);
  if (realTime !== null) return (realTime[1] === "MIN" ? firstRealTime : lastRealTime) + Number(realTime[2] ?? "0");
  const index = names.indexOf(bare);
  return index < 0 ? null : index + 1;
}
