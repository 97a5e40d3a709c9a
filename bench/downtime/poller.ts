// Asks a port every 5 ms (or as often as it is told to) who answers, over a new connection each time, in a process of its own: neither the product nor the engine
// can hold it up.
import net from "node:net";
import { answerParent } from "../child.ts";

const usualMs = 5;
const limitMs = 60_000;

/** The text of an answer with the time at which it was complete; null when nobody answered. */
function poll(port: number): Promise<{ text: string; at: number } | null> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = net.connect(port, "127.0.0.1", () => socket.write("GET / HTTP/1.0\r\n\r\n"));
    const end = () => {
      socket.destroy();
      const text = answer.split("\r\n\r\n")[1]?.trim() ?? "";
      resolve(/^HTTP\/1\.\d 200/.test(answer) && text !== "" ? { text, at: performance.now() } : null);
    };
    socket.setTimeout(1_000, end);
    socket.on("data", (chunk) => {
      answer += chunk.toString();
    });
    socket.on("end", end);
    socket.on("error", end);
  });
}

interface Watch {
  port: number;
  last: Map<string, number>;
  first: Map<string, number>;
  missed: number;
  /** Of the latest answer of anybody, and the longest time between two. */
  latest: number;
  longest: number;
}

let watch: Watch | null = null;

function ask(): void {
  const current = watch;
  if (current === null) return;
  void poll(current.port).then((answer) => {
    if (answer === null) {
      current.missed += 1;
      return;
    }
    if (current.latest > 0) current.longest = Math.max(current.longest, answer.at - current.latest);
    current.latest = Math.max(current.latest, answer.at);
    current.last.set(answer.text, Math.max(answer.at, current.last.get(answer.text) ?? 0));
    if (!current.first.has(answer.text)) current.first.set(answer.text, answer.at);
  });
}

let everyMs = usualMs;
let timer = setInterval(ask, everyMs);

async function untilAnswered(text: string): Promise<void> {
  const until = performance.now() + limitMs;
  while (!watch?.first.has(text)) {
    if (performance.now() > until) throw new Error(`Nobody answered "${text}"`);
    await Bun.sleep(everyMs);
  }
}

answerParent(async ({ port, from, to, again, every_ms }) => {
  if (typeof port === "number") {
    everyMs = typeof every_ms === "number" ? every_ms : usualMs;
    clearInterval(timer);
    timer = setInterval(ask, everyMs);
    watch = { port, last: new Map(), first: new Map(), missed: 0, latest: 0, longest: 0 };
    await untilAnswered(String(from));
    return {};
  }
  if (typeof again === "string") {
    // An answer to a question that is still to come: whatever was down is up again.
    watch?.first.delete(again);
    await untilAnswered(again);
    const gap_ms = watch?.longest ?? 0;
    watch = null;
    return { gap_ms };
  }
  await untilAnswered(String(to));
  // One clock for all processes, so that spans of several can be compared.
  const [from_ms, until_ms] = [watch?.last.get(String(from)) ?? 0, watch?.first.get(String(to)) ?? 0];
  const missed = watch?.missed ?? 0;
  watch = null;
  return {
    gap_ms: until_ms - from_ms,
    from_ms: performance.timeOrigin + from_ms,
    until_ms: performance.timeOrigin + until_ms,
    missed,
  };
});
