import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { readTar, type TarFile, writeTar } from "../../../../src/runtimes/engine/compose/tar.ts";

const file = (change: Partial<TarFile> = {}): TarFile => ({
  path: "/run/secrets/token",
  mode: 0o444,
  uid: 0,
  gid: 0,
  mtime: 1_795_248_685,
  content: new TextEncoder().encode("content"),
  ...change,
});

describe("writeTar() and readTar()", () => {
  test.each([
    ["a small file", file()],
    ["an empty file", file({ content: new Uint8Array() })],
    ["exactly a block", file({ content: new Uint8Array(512).fill(7) })],
    ["more than a block, binary", file({ content: Uint8Array.from({ length: 1300 }, (_, index) => index % 256) })],
    ["owner and set-id bits", file({ uid: 1000, gid: 1001, mode: 0o4750 })],
    ["owners that are large", file({ uid: 4_000_000_000, gid: 3_000_000 })],
    ["a path of 100 bytes", file({ path: `/${"x".repeat(99)}` })],
    ["a path of more", file({ path: `/${"long/".repeat(60)}ä name` })],
    ["a path of letters beyond ASCII", file({ path: "/größe/ümlaut" })],
  ])("give back %s", async (_what, one) => {
    expect(await readTar(await writeTar([one]))).toEqual([one]);
    expect(await readTar(await writeTar([one, file({ path: "/other" })]))).toEqual([one, file({ path: "/other" })]);
  });

  test("are what tar itself writes and reads", async () => {
    const archive = await writeTar([
      file({ path: "a/b" }),
      file({ path: `c/${"d".repeat(120)}`, content: new Uint8Array(3) }),
    ]);
    const listed = execFileSync("tar", ["-tf", "-"], { input: archive, encoding: "utf8" }).trim().split("\n");
    expect(listed).toEqual(["a/b", `c/${"d".repeat(120)}`]);
  });

  test("answer nothing for an empty archive", async () => {
    expect(await readTar(await writeTar([]))).toEqual([]);
    expect(await readTar(new Uint8Array())).toEqual([]);
  });

  test("do not take a damaged header", async () => {
    const archive = await writeTar([file()]);
    archive[0] = 0x41;
    await expect(readTar(archive)).rejects.toThrow("Invalid tar header checksum");
  });

  test("do not take an archive that ends early", async () => {
    const archive = await writeTar([file({ content: new Uint8Array(2000) })]);
    await expect(readTar(archive.subarray(0, 1024))).rejects.toThrow("Tar archive is truncated");
  });
});
