/** One entry of an archive; the mode is octal as `chmod` takes it. */
export type TarEntry =
  | { path: string; kind: "file"; content: Uint8Array | string; mode?: number }
  | { path: string; kind: "directory"; mode?: number }
  | { path: string; kind: "link"; target: string };

const block = 512;

function header(entry: TarEntry, size: number): Buffer {
  const bytes = Buffer.alloc(block);
  const isLink = entry.kind === "link";
  const mode = isLink ? 0o777 : (entry.mode ?? (entry.kind === "directory" ? 0o755 : 0o644));
  const type = { file: "0", link: "2", directory: "5" }[entry.kind];
  const path = entry.kind === "directory" ? `${entry.path}/` : entry.path;
  if (Buffer.byteLength(path) > 100) throw new Error(`The path "${path}" has more than 100 bytes`);
  const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, "0")}\0`;
  bytes.write(path, 0);
  bytes.write(octal(mode, 8), 100);
  bytes.write(octal(0, 8), 108);
  bytes.write(octal(0, 8), 116);
  bytes.write(octal(size, 12), 124);
  bytes.write(octal(0, 12), 136);
  bytes.write(" ".repeat(8), 148);
  bytes.write(type, 156);
  if (isLink) bytes.write(entry.target, 157);
  bytes.write("ustar\x0000", 257, "latin1");
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return bytes;
}

/** A POSIX archive with fixed times and owners, so that the same entries are the same bytes. */
export function tar(entries: readonly TarEntry[]): Buffer {
  const parts: Buffer[] = [];
  for (const entry of entries) {
    const content = entry.kind === "file" ? Buffer.from(entry.content) : Buffer.alloc(0);
    const padding = (block - (content.length % block)) % block;
    parts.push(header(entry, content.length), content, Buffer.alloc(padding));
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}
