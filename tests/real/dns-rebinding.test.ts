import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inEnglish } from "../../src/messages/message.ts";
import { blockedAt } from "../../src/net/destination.ts";
import {
  type Attempt,
  names,
  otherPublicAddress,
  publicAddress,
  publicAddress6,
  type Trial,
} from "../support/dns-guarded.ts";
import { peerSuite } from "../support/peer.ts";

const script = join(import.meta.dir, "../support/dns-guarded.ts");

/** Why a namespace with addresses and a resolver of its own cannot be made here, or null when it can. */
function namespaceMissing(): string | null {
  const probe = spawnSync("unshare", ["--mount", "--net", "ip", "link", "set", "lo", "up"]);
  if (probe.status === 0) return null;
  return "a network namespace cannot be made (as root, with unshare and the Debian package iproute2)";
}

/** In namespaces of its own, which end with the process: nothing of this machine's network or resolver is touched. */
function attempt(...trials: readonly Trial[]): Attempt[] {
  const directory = mkdtempSync(join(tmpdir(), "tidemark-dns-"));
  try {
    writeFileSync(join(directory, "resolv.conf"), "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n");
    writeFileSync(join(directory, "hosts"), "127.0.0.1 localhost\n");
    const prepare = [
      "set -e",
      "ip link set lo up",
      ...[`${publicAddress}/32`, `${otherPublicAddress}/32`].map((each) => `ip address add ${each} dev lo`),
      `ip -6 address add ${publicAddress6}/128 dev lo`,
      `mount --bind ${directory}/resolv.conf /etc/resolv.conf`,
      `mount --bind ${directory}/hosts /etc/hosts`,
      `exec "$0" "$1" "$2"`,
    ].join("\n");
    const child = spawnSync(
      "unshare",
      ["--mount", "--net", "sh", "-c", prepare, process.execPath, script, JSON.stringify(trials)],
      { encoding: "utf8", env: { PATH: process.env.PATH ?? "" } },
    );
    if (child.status !== 0) throw new Error(`The namespace ended with ${child.status}: ${child.stderr.slice(-2_000)}`);
    const attempts: Attempt[] = JSON.parse(child.stdout);
    return attempts;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** It names what was asked for, and nothing of the answers. */
const blockedName = (name: string) => inEnglish(blockedAt(new URL(`http://${name}.example.test/`)));

peerSuite("the guard and a real DNS server", namespaceMissing(), () => {
  // One process for all that needs no order among names: each start takes a second or more.
  const all = Object.keys(names).filter((name) => !/^(rebinds|turns)/.test(name));
  let seen: Map<string, Attempt> | null = null;
  const fetched = (name: string): Attempt => {
    seen ??= new Map(attempt(...all.map((each): Trial => ["fetch", each])).map((each, at) => [all[at] ?? "", each]));
    const found = seen.get(name);
    if (found === undefined) throw new Error(`"${name}" was not asked for`);
    return found;
  };

  test.each([
    ["good.example.test", [publicAddress]],
    ["alias.example.test", [publicAddress]],
    ["six.example.test", [publicAddress6]],
  ])("%s is reached at the address that was judged", (name, addresses) => {
    expect(fetched(name)).toMatchObject({ status: 200, reached: addresses });
  });

  test("a name with two public addresses is reached at one of them, once", () => {
    const { status, reached } = fetched("two.example.test");
    expect([status, reached.length]).toEqual([200, 1]);
    expect([publicAddress, otherPublicAddress]).toContain(reached[0] ?? "");
  });

  test.each([
    "loopback",
    "mixed",
    "mixed-first",
    "many",
    "aaaa",
    "aaaa-local",
    "aaaa-mapped",
    "aaaa-nat64",
    "aaaa-6to4",
    "aaaa-link",
    "alias-inside",
    "metadata",
    "azure",
    "zero",
    "multicast",
    "broadcast",
    "shared",
  ])("%s.example.test is blocked, and nobody is connected to", (name) => {
    const { code, message, reached } = fetched(`${name}.example.test`);
    expect([code, message, reached]).toEqual(["rejected", blockedName(name), []]);
  });

  test.each(["empty", "gone", "broken", "refused", "silent"])(
    "%s.example.test is a failed attempt that names no address",
    (name) => {
      const { code, message, reached } = fetched(`${name}.example.test`);
      expect([code, reached]).toEqual(["unreachable", []]);
      expect(message).not.toMatch(/\d+\.\d+\.\d+\.\d+/);
    },
  );

  describe("a name that changes", () => {
    test("asks once for each family in an attempt, and connects to what that answer was", () => {
      const [first, second] = attempt(["fetch", "rebinds.example.test"], ["fetch", "rebinds.example.test"]);
      expect(first).toMatchObject({ status: 200, reached: [publicAddress] });
      expect(first?.asked.toSorted()).toEqual(["rebinds.example.test A", "rebinds.example.test AAAA"]);
      expect(second).toMatchObject({ code: "rejected", message: blockedName("rebinds"), reached: [] });
    });

    test("is asked for again at the next attempt, when it may have become good", () => {
      const [first, second] = attempt(["fetch", "turns.example.test"], ["fetch", "turns.example.test"]);
      expect(first).toMatchObject({ code: "rejected", reached: [] });
      expect(second).toMatchObject({ status: 200, reached: [publicAddress] });
    });
  });

  test("a save asks no DNS server", () => {
    expect(attempt(["judge", "metadata.example.test"])).toEqual([{ status: 200, reached: [], asked: [] }]);
  });

  test("a TCP probe refuses what a name must not lead to, our own port and an answer that never comes", () => {
    const results = attempt(
      ["connect", "good.example.test"],
      ["connect", "loopback.example.test"],
      ["connect", "mixed.example.test"],
      ["connect", "metadata.example.test"],
      ["connect", "aaaa-link.example.test"],
      ["connect", "multicast.example.test"],
      ["connect", "gone.example.test"],
      ["connect", "silent.example.test"],
    );
    // The public addresses are on this machine's own device, and port 80 is ours here.
    const blocked = "rejected";
    const codes = [blocked, blocked, blocked, blocked, blocked, blocked, "unreachable", "unreachable"];
    expect(results.map(({ code }) => code)).toEqual(codes);
    for (const { message } of results) expect(message).not.toMatch(/\d+\.\d+\.\d+\.\d+/);
  });
});
