import { describe, expect, test } from "bun:test";
import {
  chosenAddresses,
  imagePlaceholder,
  readCommandLine,
  untellableOptions,
} from "../../../src/runtimes/podman/command-line.ts";
import { signalName, signalNumber } from "../../../src/runtimes/podman/signals.ts";

/** A command line up to the image and its command. */
function line(...options: readonly string[]) {
  const read = readCommandLine(["/usr/bin/podman", "--log-level=info", "run", ...options, "nginx:1", "-c", "run"]);
  if (read === null) throw new Error("It is a command line");
  return read;
}

describe("readCommandLine()", () => {
  test.each([
    [["-d"], [["detach", "true"]]],
    [
      ["-it", "--rm"],
      [
        ["interactive", "true"],
        ["tty", "true"],
        ["rm", "true"],
      ],
    ],
    [
      ["-p80:80", "-p", "81:81"],
      [
        ["publish", "80:80"],
        ["publish", "81:81"],
      ],
    ],
    [
      ["-dp", "80:80"],
      [
        ["detach", "true"],
        ["publish", "80:80"],
      ],
    ],
    [
      ["--name=web", "--env", "A=b c"],
      [
        ["name", "web"],
        ["env", "A=b c"],
      ],
    ],
    [
      ["--sig-proxy=false", "-e=A"],
      [
        ["sig-proxy", "false"],
        ["env", "A"],
      ],
    ],
    [["--"], []],
  ])("reads %j and finds the image behind it", (words, options) => {
    const read = line(...words);
    expect(read.options.map(({ name, value }) => [name, value])).toEqual(options);
    expect(read.words.slice(-3)).toEqual([imagePlaceholder, "-c", "run"]);
  });

  test.each([
    ["nothing", null],
    ["the service's own", ["podman", "--log-level=info", "system", "service", "--time=0"]],
    ["one without an image", ["podman", "run", "-d"]],
    ["a list of something else", [1, 2]],
  ])("is null for %s", (_what, words) => {
    expect(readCommandLine(words)).toBeNull();
  });
});

describe("chosenAddresses()", () => {
  test.each([
    [["--ip", "10.0.0.5"], { "": { ipv4: "10.0.0.5", ipv6: "", mac: "" } }],
    [
      ["--network", "front", "--ip6=fd00::5", "--mac-address", "92:d0:c6:0a:29:33"],
      { front: { ipv4: "", ipv6: "fd00::5", mac: "92:d0:c6:0a:29:33" } },
    ],
    [
      ["--net", "front:ip=10.0.0.5,mac=aa:bb:cc:dd:ee:ff,alias=web", "--network=back:alias=www"],
      { front: { ipv4: "10.0.0.5", ipv6: "", mac: "aa:bb:cc:dd:ee:ff" } },
    ],
    [["--network", "front:interface_name=eth7"], { front: { ipv4: "", ipv6: "", mac: "", interface_name: "eth7" } }],
    [
      ["--network", "front:interface_name=eth7", "--ip=10.0.0.5"],
      { front: { ipv4: "10.0.0.5", ipv6: "", mac: "", interface_name: "eth7" } },
    ],
    [["--network", "front"], {}],
  ])("of %j", (options, chosen) => {
    const found = [...chosenAddresses(line(...options))].map(([name, { interface_name, ...address }]) => {
      return [name, interface_name === "" ? address : { ...address, interface_name }] as const;
    });
    expect(Object.fromEntries<object>(found)).toEqual(chosen);
  });
});

describe("untellableOptions()", () => {
  test.each([
    [["--device-cgroup-rule", "c 1:3 r"], "device-cgroup-rule"],
    [["--device=/dev/null:/dev/x:r"], "device"],
    [["-v", "/a:/b:O"], "volume"],
    [["--unsetenv", "A"], "unsetenv"],
    [["--security-opt", "unmask=ALL"], "security-opt"],
    [["--image-volume=tmpfs"], "image-volume"],
    [["--dns", "none"], "dns"],
    [["--network", "front:alias=a,host_interface_name=veth7"], "network …:host_interface_name"],
  ])("names what %j asks for", (options, named) => {
    expect(untellableOptions(line(...options))).toMatchObject([{ code: "podman.option", params: { option: named } }]);
  });

  test.each([
    [["--device", "/dev/null:/dev/x"]],
    [["-v", "/a:/b:ro,Z", "-v", "/O"]],
    [["--security-opt", "seccomp=unconfined", "--image-volume", "anonymous"]],
    [["--no-hosts=false", "--dns", "192.0.2.1"]],
    [["--network", "front:alias=a,ip=10.0.0.5,interface_name=eth7", "--network=back"]],
    [["--network=slirp4netns:mtu=1500,cidr=10.9.0.0/24"]],
    [["--network=container:web"]],
  ])("has nothing against %j", (options) => {
    expect(untellableOptions(line(...options))).toEqual([]);
  });
});

describe("signals", () => {
  test.each([
    [15, "SIGTERM"],
    ["15", "SIGTERM"],
    ["TERM", "SIGTERM"],
    ["sigquit", "SIGQUIT"],
    [37, "SIGRTMIN+3"],
    ["RTMIN+3", "SIGRTMIN+3"],
    [64, "SIGRTMIN+30"],
  ])("%p is %s", (signal, name) => {
    expect(signalName(signal)).toBe(name);
    expect(signalName(signalNumber(name))).toBe(name);
  });

  test.each([0, "", null, "SIGNONE", 200])("%p is none", (signal) => {
    expect(signalNumber(signal)).toBeNull();
  });
});
