import { PluginError } from "../../../errors.ts";

/** A regular file in a POSIX archive; other kinds of entries are passed over. */
export interface TarFile {
  path: string;
  /** Permission bits, set-id bits included. */
  mode: number;
  uid: number;
  gid: number;
  /** Whole seconds. */
  mtime: number;
  content: Uint8Array;
}

const block = 512;

/** The regular files of an archive as Go's writer makes it (ustar, with PAX or GNU long names). Throws `malformed` on anything else. */
export function readTar(archive: Uint8Array): readonly TarFile[] {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const files: TarFile[] = [];
  let extra: Readonly<Record<string, string>> = {};
  for (let at = 0; at + block <= bytes.length; ) {
    const header = bytes.subarray(at, at + block);
    if (header.every((byte) => byte === 0)) break;
    if (checksum(header) !== numberIn(header, 148, 8)) throw malformed("a header is damaged");
    const size = extra.size === undefined ? numberIn(header, 124, 12) : Number(extra.size);
    const content = bytes.subarray(at + block, at + block + size);
    if (!Number.isSafeInteger(size) || size < 0 || content.length !== size) throw malformed("it ends early");
    at += block + Math.ceil(size / block) * block;
    const type = String.fromCharCode(header[156] ?? 0);
    if (type === "x") extra = { ...extra, ...paxRecords(content) };
    else if (type === "L") extra = { ...extra, path: textIn(content, 0, size) };
    else if (type !== "g") {
      if (type === "0" || type === "\0" || type === "7") files.push(fileOf(header, extra, content));
      extra = {};
    }
  }
  return files;
}

function fileOf(header: Buffer, extra: Readonly<Record<string, string>>, content: Buffer): TarFile {
  const prefix = textIn(header, 345, 155);
  const name = textIn(header, 0, 100);
  return {
    path: extra.path ?? (prefix === "" ? name : `${prefix}/${name}`),
    mode: numberIn(header, 100, 8) & 0o7777,
    uid: extra.uid === undefined ? numberIn(header, 108, 8) : Number(extra.uid),
    gid: extra.gid === undefined ? numberIn(header, 116, 8) : Number(extra.gid),
    mtime: Math.floor(extra.mtime === undefined ? numberIn(header, 136, 12) : Number(extra.mtime)),
    content: Uint8Array.from(content),
  };
}

/** The same files in the same order are the same bytes. */
export function writeTar(files: readonly TarFile[]): Uint8Array {
  const parts = files.flatMap((file) => {
    const pax = paxFor(file);
    const long = pax === "" ? [] : [headerOf({ ...file, path: "pax", uid: 0, gid: 0 }, "x", Buffer.byteLength(pax))];
    return [...long, padded(Buffer.from(pax)), headerOf(file, "0", file.content.length), padded(file.content)];
  });
  return Uint8Array.from(Buffer.concat([...parts, Buffer.alloc(2 * block)]));
}

/** What has no room in the fixed fields. */
function paxFor(file: TarFile): string {
  const records: [string, string][] = [];
  if (Buffer.byteLength(file.path) > 100) records.push(["path", file.path]);
  if (file.uid > 0o7777777) records.push(["uid", String(file.uid)]);
  if (file.gid > 0o7777777) records.push(["gid", String(file.gid)]);
  return records.map(([key, value]) => paxRecord(` ${key}=${value}\n`)).join("");
}

/** A record begins with its own length, the digits of that length included. */
function paxRecord(rest: string): string {
  const bytes = Buffer.byteLength(rest);
  const length = bytes + String(bytes).length;
  return `${String(length).length === String(bytes).length ? length : length + 1}${rest}`;
}

function paxRecords(content: Buffer): Record<string, string> {
  const records: Record<string, string> = {};
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(" ", at);
    const length = Number(content.toString("latin1", at, space));
    if (space < 0 || !Number.isInteger(length) || length <= space - at)
      throw malformed("an extended header is damaged");
    const record = content.toString("utf8", space + 1, at + length - 1);
    const equals = record.indexOf("=");
    records[record.slice(0, equals)] = record.slice(equals + 1);
    at += length;
  }
  return records;
}

function headerOf(file: Omit<TarFile, "content">, type: string, size: number): Buffer {
  const bytes = Buffer.alloc(block);
  const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, "0")}\0`;
  const fitting = (id: number) => (id > 0o7777777 ? 0 : id);
  bytes.write(file.path, 0, 100);
  bytes.write(octal(file.mode, 8), 100);
  bytes.write(octal(fitting(file.uid), 8), 108);
  bytes.write(octal(fitting(file.gid), 8), 116);
  bytes.write(octal(size, 12), 124);
  bytes.write(octal(file.mtime, 12), 136);
  bytes.write(type, 156);
  bytes.write("ustar\x0000", 257, "latin1");
  bytes.write(`${octal(checksum(bytes), 7)} `, 148);
  return bytes;
}

function padded(content: Uint8Array): Buffer {
  return Buffer.concat([content, Buffer.alloc((block - (content.length % block)) % block)]);
}

/** The sum of all bytes, with its own field taken as blanks. */
function checksum(header: Buffer): number {
  return header.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 0x20 : byte), 0);
}

function textIn(bytes: Buffer, from: number, length: number): string {
  const field = bytes.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end < 0 ? field.length : end);
}

/** Octal text, or for large numbers base 256 with the highest bit set. */
function numberIn(bytes: Buffer, from: number, length: number): number {
  const field = bytes.subarray(from, from + length);
  if (((field[0] ?? 0) & 0x80) === 0) {
    return Number.parseInt(textIn(bytes, from, length).trim() || "0", 8);
  }
  return field.reduce((sum, byte, index) => sum * 256 + (index === 0 ? byte & 0x7f : byte), 0);
}

function malformed(detail: string): PluginError {
  return new PluginError("malformed", `The engine's archive cannot be read: ${detail}`);
}
