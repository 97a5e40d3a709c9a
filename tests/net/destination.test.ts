import { describe, expect, test } from "bun:test";
import { say } from "../../src/messages/message.ts";
import { isBareHost, judgeDestination } from "../../src/net/destination.ts";
import { parseOutboundAllow } from "../../src/net/outbound-allow.ts";

const nothingAllowed = parseOutboundAllow("");
const accepts = (url: string, allow = nothingAllowed, purpose: "webhook" | "probe" = "webhook") =>
  judgeDestination(url, purpose, allow).ok;

describe("judgeDestination()", () => {
  test.each([
    "https://hooks.example.com/a?b=c",
    "http://hooks.example.com",
    "https://hooks.example.com:8443/x",
    "http://hooks.example.com:443/x",
    "https://hooks.example.com:80/x",
    "HTTPS://HOOKS.EXAMPLE.COM/",
    "https://hooks.example.com./",
    "https://8.8.8.8/",
    "https://[2606:4700:4700::1111]/",
    "https://bücher.example/",
    "https://example.com/user@host",
    "https://example.com?next=http://127.0.0.1",
  ])("takes %p", (url) => {
    expect(accepts(url)).toBe(true);
  });

  const refused: readonly string[] = [
    "",
    "hooks.example.com",
    "//hooks.example.com/",
    "ftp://hooks.example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/plain,x",
    "gopher://example.com:80/",
    "ws://example.com/",
    "http:hooks.example.com",
    "http:/hooks.example.com",
    "http:///hooks.example.com",
    "https:\\\\hooks.example.com",
    "https://hooks.example.com\\@127.0.0.1/",
    "https://hooks.example.com/\\x",
    " https://hooks.example.com/",
    "https://hooks.example.com/ ",
    "https://hooks.example.com/a b",
    "https://hooks.exa\tmple.com/",
    "https://hooks.exa\nmple.com/",
    "https://hooks.example.com/\r\nX-Evil: 1",
    "https://hooks.example.com/\u0000",
    "https://hooks.example.com/\u0085",
    "https://hooks.example.com/\u2028",
    "https://hooks.example.com/\u3000",
    "https://user@hooks.example.com/",
    "https://user:pass@hooks.example.com/",
    "https://@hooks.example.com/",
    "https://:@hooks.example.com/",
    "https://hooks.example.com@127.0.0.1/",
    "https://hooks.example.com:22/",
    "https://hooks.example.com:0/",
    "https://hooks.example.com:8081/",
    "https://hooks.example.com:65536/",
    "https://hooks.example.com:-1/",
    `https://hooks.example.com/${"a".repeat(2_048)}`,
    // Names
    "http://localhost/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://foo.localhost/",
    "http://intranet/",
    "http://printer.local/",
    "http://a.internal/",
    "http://nas.lan/",
    "http://api.svc/",
    "http://api.ns.svc.cluster.local/",
    "http://hooks.example.com../",
    "http://loc%61lhost/",
    "http://ｌｏｃａｌｈｏｓｔ/",
    // 127.0.0.1 in every notation
    "http://127.0.0.1/",
    "http://127.0.0.1./",
    "http://127.1/",
    "http://127.0.1/",
    "http://0177.0.0.1/",
    "http://0177.0.0.01/",
    "http://0x7f.0.0.1/",
    "http://0x7f.1/",
    "http://0X7F000001/",
    "http://2130706433/",
    "http://017700000001/",
    "http://%31%32%37.0.0.1/",
    "http://１２７.０.０.１/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::ffff:8.8.8.8]/",
    "http://[64:ff9b::8.8.8.8]/",
    "http://[2002:808:808::1]/",
    "http://[fe80::1]/",
    "http://[fd00::1]/",
    "http://[2001:db8::1]/",
    // Others
    "http://10.0.0.1/",
    "http://172.17.0.1:8080/",
    "http://192.168.1.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://0xa9fea9fe/",
    "http://2852039166/",
    "http://168.63.129.16/",
    "http://[fd00:ec2::254]/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://256.256.256.256/",
  ];
  test.each(refused)("refuses %p", (url) => {
    expect(accepts(url)).toBe(false);
  });

  test.each([
    ["http://app.example.com:80/", true],
    ["http://app.example.com:8080/", true],
    ["http://app.example.com:443/", false],
    ["http://app.example.com:8443/", false],
    ["https://app.example.com:443/", true],
    ["https://app.example.com:8443/", true],
    ["https://app.example.com:9443/", true],
    ["https://app.example.com:80/", false],
    ["https://app.example.com:8080/", false],
  ])("judges the port of a probe at %s: %s", (url, is) => {
    expect(accepts(url, nothingAllowed, "probe")).toBe(is);
  });

  const allow = parseOutboundAllow("ntfy.lan:2586, localhost:8080 10.20.0.0/16 [fd12::5]:443 fd99::/16 10.0.0.9:3000");
  test.each([
    ["http://ntfy.lan:2586/topic", true],
    ["http://NTFY.LAN:2586/topic", true],
    ["http://ntfy.lan:8080/topic", false],
    ["http://other.lan:2586/topic", false],
    ["http://localhost:8080/", true],
    ["http://localhost/", false],
    ["http://10.20.1.1/", true],
    ["http://10.20.1.1:8080/", true],
    ["http://10.20.1.1:2586/", false],
    ["http://10.21.1.1/", false],
    ["http://10.0.0.9:3000/", true],
    ["http://167772169:3000/", true],
    ["http://10.0.0.9/", false],
    ["https://[fd12::5]/", true],
    ["https://[fd12:0:0::5]:443/", true],
    ["https://[fd12::6]/", false],
    ["https://[fd99:1::1]:9443/", true],
    ["https://[::ffff:10.20.1.1]/", false],
    ["http://169.254.169.254/", false],
  ])("heeds the allow list for %s: %s", (url, is) => {
    expect(accepts(url, allow)).toBe(is);
    expect(accepts(url, nothingAllowed)).toBe(false);
  });

  test("keeps metadata refused inside an allowed network", () => {
    const all = parseOutboundAllow("0.0.0.0/0 ::/0");
    expect(accepts("http://127.0.0.1/", all)).toBe(true);
    expect(accepts("http://169.254.169.254/", all)).toBe(false);
    expect(accepts("http://[::ffff:169.254.169.254]/", all)).toBe(false);
  });

  test("keeps metadata refused whatever an allow list says", () => {
    const everything = { entries: [], hasHost: () => true, hasAddress: () => true };
    expect(accepts("http://localhost:22/", everything)).toBe(true);
    expect(accepts("http://169.254.169.254/", everything)).toBe(false);
  });

  test.each([
    ["http://0x7f.1/", "127.0.0.1:80"],
    ["https://[fd12::5]/hook", "[fd12::5]:443"],
    ["http://nas.lan:8080/", "nas.lan:8080"],
    ["http://169.254.169.254/", null],
  ])("names what would allow %s, if anything can", (text, entry) => {
    const judgement = judgeDestination(text, "webhook", nothingAllowed);
    expect(judgement).toEqual({ ok: false, reason: say("net.destination_blocked", { entry }) });
    if (entry !== null) expect(accepts(text, parseOutboundAllow(entry))).toBe(true);
  });

  test("names what would allow a port", () => {
    const judgement = judgeDestination("http://a.example.org:9000/", "webhook", nothingAllowed);
    if (judgement.ok) throw new Error("The port was accepted");
    expect(judgement.reason.params.entry).toBe("a.example.org:9000");
    expect(accepts("http://a.example.org:9000/", parseOutboundAllow("a.example.org:9000"))).toBe(true);
  });
});

describe("parseOutboundAllow()", () => {
  test("takes nothing, and keeps what the operator wrote", () => {
    expect(parseOutboundAllow("").entries).toEqual([]);
    expect(parseOutboundAllow(" a.lan:80,\n10.0.0.0/8 ").entries).toEqual(["a.lan:80", "10.0.0.0/8"]);
  });

  test.each([
    ["10.0.0.5", "without a port or prefix"],
    ["fd12::5", "without a port or prefix"],
    ["ntfy.lan", "use a host with its port"],
    ["ntfy.lan:0", "use a host with its port"],
    ["ntfy.lan:65536", "use a host with its port"],
    ["ntfy.lan:http", "use a host with its port"],
    ["user@ntfy.lan:80", "use a host with its port"],
    ["http://ntfy.lan:80", "is not a network"],
    ["*.lan:80", "use a host with its port"],
    ["10.0.0.0/33", "at most 32"],
    ["fd12::/129", "at most 128"],
    ["10.0.0.5/8", "bits beyond its prefix"],
    ["fd12::5/64", "bits beyond its prefix"],
    ["10.0.0.0/", "is not a network"],
    ["10.0.0.0/8/8", "is not a network"],
    ["10.0/8", "is not a network"],
    ["fe80::%eth0/10", "is not a network"],
    ["169.254.169.254:80", "metadata"],
    ["[fd00:ec2::254]:80", "metadata"],
  ])("refuses %p and says why", (text, why) => {
    expect(() => parseOutboundAllow(text)).toThrow(why);
  });
});

describe("isBareHost()", () => {
  test.each([
    ["example.com", true],
    ["redis", true],
    ["10.0.0.1", true],
    ["::1", true],
    ["fd12::5", true],
    ["", false],
    ["example.com:80", false],
    ["example.com/", false],
    ["user@example.com", false],
    ["[::1]", false],
    ["fe80::1%eth0", false],
    ["exa mple.com", false],
    ["example.com\n", false],
    ["example.com#", false],
    ["example.com?x", false],
    ["a\\b", false],
    ["%6c.com", false],
    ["::1]:80/[", false],
  ])("%p: %s", (text, is) => {
    expect(isBareHost(text)).toBe(is);
  });
});
