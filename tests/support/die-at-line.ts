// Loaded before the server (`bun --preload`): the process kills itself the moment it writes the chosen line, as a power failure would.
const wanted = process.env.DIE_AT_LINE ?? "";
const print = console.log.bind(console);
console.log = (...values: unknown[]) => {
  print(...values);
  if (wanted !== "" && values.some((value) => String(value).includes(wanted))) process.kill(process.pid, "SIGKILL");
};

export {};
