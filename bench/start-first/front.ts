// A proxy before the containers of a service, as reverse proxies on engines are: it learns of them by the engine's events, takes
// turns between those that run, passes over one that failed for a while, and tries a request once more on another. And its client,
// which asks every 5 ms over a new connection, whatever became of the requests before.
import net from "node:net";
import { answerParent } from "../child.ts";

const everyMs = 5;
/** Busy machines take a while; an address that nobody has any more is not answered at all. */
const connectMs = 1_000;
const clientMs = 5_000;
/** As nginx does by default, though for 10 s there. */
const passedOverMs = 2_000;

interface Service {
  socket: string;
  service: string;
  network: string;
}

interface Listed {
  Labels?: Record<string, string>;
  NetworkSettings?: { Networks?: Record<string, { IPAddress?: string }> };
}

let addresses: readonly string[] = [];
const failedAt = new Map<string, number>();
let turn = 0;

async function learn({ socket, service, network }: Service): Promise<void> {
  const filters = encodeURIComponent(
    JSON.stringify({ status: ["running"], label: [`com.docker.compose.service=${service}`] }),
  );
  const response = await fetch(`http://localhost/containers/json?filters=${filters}`, {
    unix: socket,
    keepalive: false,
  });
  const listed = (await response.json()) as Listed[];
  addresses = listed
    .map((each) => each.NetworkSettings?.Networks?.[network]?.IPAddress ?? "")
    .filter((address) => address !== "");
}

/** Learns anew whenever the engine tells that a container was started or has ended. */
async function follow(service: Service, signal: AbortSignal): Promise<void> {
  const filters = encodeURIComponent(JSON.stringify({ type: ["container"], event: ["start", "die"] }));
  const response = await fetch(`http://localhost/events?filters=${filters}`, {
    unix: service.socket,
    keepalive: false,
    signal,
  });
  for await (const _piece of response.body ?? []) await learn(service);
}

/** The whole answer of one address. */
function exchange(address: string, port: number, limitMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = net.connect(port, address, () => {
      clearTimeout(limit);
      socket.write("GET / HTTP/1.0\r\n\r\n");
    });
    const fail = (reason: string) => {
      clearTimeout(limit);
      socket.destroy();
      reject(new Error(reason));
    };
    const limit = setTimeout(() => fail("no connection in time"), limitMs);
    socket.setTimeout(clientMs, () => fail("no answer in time"));
    socket.on("data", (chunk) => {
      answer += chunk.toString();
    });
    socket.on("error", (error) => fail(error.message));
    socket.on("end", () => {
      socket.destroy();
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(answer)?.[1] ?? "-1");
      const body = answer.split("\r\n\r\n")[1] ?? "";
      if (/^HTTP\/1\.\d 200/.test(answer) && body.length === length) resolve(answer);
      else reject(new Error("an answer without its end"));
    });
  });
}

function nextAddress(except: string | null): string | null {
  const now = performance.now();
  const others = addresses.filter((each) => each !== except);
  const good = others.filter((each) => now - (failedAt.get(each) ?? -passedOverMs) >= passedOverMs);
  const some = good.length > 0 ? good : others;
  turn += 1;
  return some[turn % Math.max(some.length, 1)] ?? null;
}

/** Two tries, and why they failed where both did. */
async function forward(): Promise<{ answer: string } | { reason: string }> {
  const reasons: string[] = [];
  let tried: string | null = null;
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const address: string | null = nextAddress(tried) ?? tried;
    if (address === null) return { reason: "nobody runs" };
    try {
      return { answer: await exchange(address, 80, connectMs) };
    } catch (error) {
      reasons.push(`${address === tried ? "the same: " : ""}${error instanceof Error ? error.message : error}`);
      failedAt.set(address, performance.now());
      tried = address;
    }
  }
  return { reason: reasons.join(", then ") };
}

const proxy = net.createServer((client) => {
  client.on("error", () => client.destroy());
  client.once("data", () => {
    void forward().then((outcome) => {
      if ("reason" in outcome) watch?.reasons.push(outcome.reason);
      client.end("answer" in outcome ? outcome.answer : "HTTP/1.0 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
    });
  });
});
await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
const bound = proxy.address();
const port = typeof bound === "object" && bound !== null ? bound.port : 0;

interface Watch {
  timer: ReturnType<typeof setInterval>;
  ending: AbortController;
  pending: Set<Promise<void>>;
  answered: number[];
  failed: number;
  slowest_ms: number;
  reasons: string[];
}

let watch: Watch | null = null;

function ask(into: Watch): void {
  const from = performance.now();
  const asked = exchange("127.0.0.1", port, clientMs).then(
    () => {
      const now = performance.now();
      into.answered.push(now);
      into.slowest_ms = Math.max(into.slowest_ms, now - from);
    },
    () => {
      into.failed += 1;
    },
  );
  into.pending.add(asked);
  void asked.then(() => into.pending.delete(asked));
}

async function begin(service: Service): Promise<void> {
  await learn(service);
  failedAt.clear();
  const ending = new AbortController();
  follow(service, ending.signal).catch((error: unknown) => {
    if (!ending.signal.aborted) throw error;
  });
  await exchange("127.0.0.1", port, clientMs).catch(() => undefined);
  const watched: Watch = {
    timer: setInterval(() => ask(watched), everyMs),
    ending,
    pending: new Set(),
    answered: [],
    failed: 0,
    slowest_ms: 0,
    reasons: [],
  };
  watch = watched;
}

async function end(watched: Watch): Promise<unknown> {
  clearInterval(watched.timer);
  await Promise.all(watched.pending);
  watched.ending.abort();
  const { answered, failed, slowest_ms, reasons } = watched;
  const gaps = answered.slice(1).map((at, index) => at - (answered[index] ?? at));
  return { requests: answered.length + failed, failed, slowest_ms, reasons, longest_gap_ms: Math.max(0, ...gaps) };
}

answerParent(async ({ socket, service, network }) => {
  if (typeof socket === "string") {
    await begin({ socket, service: String(service), network: String(network) });
    return {};
  }
  return watch === null ? {} : await end(watch);
});
