import { describe, expect, test } from "bun:test";
import { BlockList, isIPv4 } from "node:net";
import { clientAddressOf, parseAddress } from "../../../src/http/middleware/client-address.ts";

const proxies = new BlockList();
proxies.addSubnet("10.0.0.0", 8, "ipv4");
proxies.addAddress("fd00::1", "ipv6");
const isTrusted = (address: string) => proxies.check(address, isIPv4(address) ? "ipv4" : "ipv6");

describe("clientAddressOf()", () => {
  test.each([
    ["no header", "10.0.0.1", undefined, "10.0.0.1"],
    ["a peer that is not trusted", "203.0.113.5", "198.51.100.7", "203.0.113.5"],
    ["one trusted proxy", "10.0.0.1", "198.51.100.7", "198.51.100.7"],
    ["what the client wrote before the proxy", "10.0.0.1", "127.0.0.1, 198.51.100.7", "198.51.100.7"],
    ["two trusted proxies", "10.0.0.1", "1.2.3.4, 198.51.100.7, 10.0.0.2", "198.51.100.7"],
    ["only trusted proxies", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    ["nonsense", "10.0.0.1", "unknown", "10.0.0.1"],
    ["nonsense behind a client", "10.0.0.1", "x, 198.51.100.7", "198.51.100.7"],
    ["an empty header", "10.0.0.1", "", "10.0.0.1"],
    ["an IPv6 proxy and client", "fd00::1", "2001:DB8::7", "2001:db8::7"],
    ["a mapped peer", "::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"],
    ["a mapped client in hex", "10.0.0.1", "::ffff:102:304", "1.2.3.4"],
    ["a mapped client at full length", "10.0.0.1", "0:0:0:0:0:FFFF:0102:0304", "1.2.3.4"],
    ["a mapped client with brackets and a port", "10.0.0.1", "[::ffff:1.2.3.4]:4711", "1.2.3.4"],
    ["a mapped proxy in hex", "10.0.0.1", "198.51.100.7, ::ffff:a00:2", "198.51.100.7"],
    ["an IPv6 client at full length", "10.0.0.1", "2001:0DB8:0:0:0:0:0:7", "2001:db8::7"],
    ["a port behind the address", "10.0.0.1", "198.51.100.7:4711", "198.51.100.7"],
    ["brackets and a port", "10.0.0.1", "[2001:db8::7]:4711", "2001:db8::7"],
    ["no peer", null, "198.51.100.7", "unknown"],
    ["a thousand hops", "10.0.0.1", `${"198.51.100.7, ".repeat(1000)}10.0.0.2`, "198.51.100.7"],
  ])("with %s", (_name, peer, header, expected) => {
    expect(clientAddressOf(peer, header, isTrusted)).toBe(expected);
  });
});

test.each(["", "1.2.3", "1.2.3.4.5", "example.org", "1.2.3.4:x", "1.2.3.4:123456", "<script>"])(
  "parseAddress() refuses %p",
  (text) => {
    expect(parseAddress(text)).toBeNull();
  },
);
