import dgram from "node:dgram";

/** An answer of ours to one question; `silent` never comes. */
export type DnsAnswer =
  | { addresses: readonly string[] }
  | { alias: string; addresses: readonly string[] }
  | { code: "servfail" | "nxdomain" | "refused" }
  | "silent";

/** What a name has for A and for AAAA; a list is gone through, question by question, its last one stays. */
export interface DnsName {
  a?: DnsAnswer | readonly DnsAnswer[];
  aaaa?: DnsAnswer | readonly DnsAnswer[];
}

const codes = { servfail: 2, nxdomain: 3, refused: 5 } as const;
const types: Readonly<Record<number, "a" | "aaaa">> = { 1: "a", 28: "aaaa" };

function inTurn(said: DnsAnswer | readonly DnsAnswer[], count: number): DnsAnswer | undefined {
  if (typeof said === "string" || !("length" in said)) return said;
  return said[Math.min(count, said.length - 1)];
}

function labels(name: string): Buffer {
  const parts = name.split(".").map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...parts, Buffer.from([0])]);
}

function addressBytes(address: string): Buffer {
  if (!address.includes(":")) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail = ""] = address.split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":"));
  const zeros = 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...new Array<string>(zeros).fill("0"), ...groups(tail)];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
}

/** A record that nobody may keep: its time to live is 0. */
function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, head, data]);
}

function reply(question: Buffer, end: number, code: number, records: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(12);
  question.copy(head, 0, 0, 2);
  // A response, recursion desired and available, authoritative.
  head.writeUInt16BE(0x8580 | code, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  return Buffer.concat([head, question.subarray(12, end), ...records]);
}

function readName(message: Buffer): { name: string; end: number } {
  const parts: string[] = [];
  let at = 12;
  for (let size = message[at] ?? 0; size > 0; size = message[at] ?? 0) {
    parts.push(message.toString("latin1", at + 1, at + 1 + size));
    at += size + 1;
  }
  return { name: parts.join(".").toLowerCase(), end: at + 1 };
}

export interface DnsServer {
  /** `name A` or `name AAAA`, every question in its order. */
  asked: string[];
  close(): void;
}

/** A real DNS server over UDP that says what `names` say, and that any other name does not exist. */
export async function startDnsServer(
  address: string,
  port: number,
  names: Readonly<Record<string, DnsName>>,
): Promise<DnsServer> {
  const socket = dgram.createSocket("udp4");
  const asked: string[] = [];
  const counts = new Map<string, number>();
  socket.on("message", (message, from) => {
    const { name, end } = readName(message);
    const type = types[message.readUInt16BE(end)];
    const send = (code: number, records: readonly Buffer[]) =>
      socket.send(reply(message, end + 4, code, records), from.port, from.address);
    const known = names[name];
    if (type === undefined) return send(0, []);
    const key = `${name} ${type.toUpperCase()}`;
    asked.push(key);
    if (known === undefined) return send(codes.nxdomain, []);
    const said = known[type] ?? { addresses: [] };
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    const answer = inTurn(said, count);
    if (answer === "silent" || answer === undefined) return;
    if ("code" in answer) return send(codes[answer.code], []);
    const own = labels(name);
    const alias = "alias" in answer ? labels(answer.alias) : null;
    const number = type === "a" ? 1 : 28;
    const records = answer.addresses.map((each) => record(alias ?? own, number, addressBytes(each)));
    send(0, alias === null ? records : [record(own, 5, alias), ...records]);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(port, address, () => resolve());
  });
  return { asked, close: () => socket.close() };
}
