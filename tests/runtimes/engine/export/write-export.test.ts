import { describe, expect, test } from "bun:test";
import type { RestorableSnapshot } from "../../../../src/runtimes/engine/export/member.ts";
import { comment, quoted } from "../../../../src/runtimes/engine/export/shell.ts";
import { writeExport } from "../../../../src/runtimes/engine/export/write-export.ts";
import { yamlLines } from "../../../../src/runtimes/engine/export/yaml.ts";
import type { RawObject } from "../../../../src/runtimes/engine/raw.ts";
import { containerInspect, imageInspect } from "../inspect.ts";

function snapshot(container: RawObject = {}, image: RawObject = {}, name = "web"): RestorableSnapshot {
  const member = { name, service: "main", inherited: [], files: null };
  const members = [{ ...member, container: containerInspect(container), image: imageInspect(image) }];
  return { kind: "container", name, api_version: "1.41", members };
}

const formats = ["script", "compose"] as const;
const plain = (format: (typeof formats)[number], of: RestorableSnapshot) =>
  writeExport(of, { format, with_secrets: false });

describe.each(formats)("writeExport() as %s", (format) => {
  test("leaves out what the image says and keeps what a person set", () => {
    const Config = { Env: ["OF_IMAGE=1", "MINE=2"], Labels: { image: "a", mine: "b" }, WorkingDir: "/app" };
    const text = plain(
      format,
      snapshot({ Config }, { Config: { Env: ["OF_IMAGE=1"], Labels: { image: "a" }, WorkingDir: "/app" } }),
    );
    expect(text).toContain("MINE=2");
    expect(text).toContain("mine=b");
    for (const left of ["OF_IMAGE", "image=a", "/app"]) expect(text).not.toContain(left);
  });

  test.each([
    ["a variable by its name", { Env: ["DB_PASSWORD=correct-horse"] }, "DB_PASSWORD"],
    ["a variable by its form", { Env: ["UPSTREAM=amqp://app:correct-horse@mq/"] }, "UPSTREAM"],
    ["a label", { Labels: { "app.api-token": "correct-horse" } }, "LABEL_APP_API_TOKEN"],
    ["a word of the command", { Cmd: ["serve", "--api-key=correct-horse"] }, "COMMAND_2"],
    ["the word after an option", { Cmd: ["serve", "--requirepass", "correct-horse"] }, "COMMAND_3"],
    ["a line of a shell", { Cmd: ["sh", "-c", "serve --token correct-horse"] }, "COMMAND_3"],
    ["a health check", { Healthcheck: { Test: ["CMD", "check", "--password=correct-horse"] } }, "HEALTH_CHECK"],
    ["a value that is a secret elsewhere", { Env: ["MY_SECRET=correct-horse", "COPY=<correct-horse>"] }, "COPY"],
  ])("demands %s instead of telling it", (_what, Config, variable) => {
    const text = plain(format, snapshot({ Config }));
    expect(text).not.toContain("correct-horse");
    expect(text).toContain(variable);
    const told = writeExport(snapshot({ Config }), { format, with_secrets: true });
    expect(told).toContain("correct-horse");
    expect(told.split("\n").slice(0, 8).join("\n")).toContain("SECRETS IN CLEAR TEXT");
  });

  test("hides the secrets of a log driver", () => {
    const LogConfig = { Type: "splunk", Config: { "splunk-token": "correct-horse" } };
    expect(plain(format, snapshot({ HostConfig: { LogConfig } }))).not.toContain("correct-horse");
  });

  test("lists what it has no words for, without its value", () => {
    const FutureSetting = { password: "correct-horse" };
    const Networks = { front: { FutureSetting } };
    const text = plain(
      format,
      snapshot({ Config: { FutureSetting }, HostConfig: { FutureSetting }, NetworkSettings: { Networks } }),
    );
    for (const named of ["Config.FutureSetting", "HostConfig.FutureSetting", "FutureSetting of the network front"])
      expect(text).toContain(`web: ${named} is not restored`);
    expect(text).not.toContain("correct-horse");
  });

  test("refuses a name that no engine gives", () => {
    expect(() => plain(format, snapshot({}, {}, "web; reboot"))).toThrow("has an invalid container name");
  });
});

describe("writeExport() of a container with fixed addresses", () => {
  const front = { IPAMConfig: { IPv4Address: "10.9.4.5" }, IPPrefixLen: 22, Gateway: "10.9.4.1", NetworkID: "n1" };
  const back = { IPPrefixLen: 24, Gateway: "10.8.0.1", IPAddress: "10.8.0.7", NetworkID: "n2" };
  const of = snapshot({
    HostConfig: { NetworkMode: "front" },
    NetworkSettings: { Networks: { front, back, bridge: null } },
  });

  test("tells in a compose file the address, and how to make the network that has room for it", () => {
    const text = plain("compose", of);
    expect(text).toContain("docker network create --subnet=10.9.4.0/22 --gateway=10.9.4.1 front\n");
    expect(text).toMatch(/"?front"?:\s+"?ipv4_address"?: "10\.9\.4\.5"/);
    // The engine chose this one: it is nobody's setting, and the network needs no certain subnet.
    expect(text).toContain("docker network create back\n");
    expect(text).not.toContain("10.8.0");
  });

  test("makes the network in a script so that there is room for it", () => {
    const text = plain("script", of);
    expect(text).toContain("tm_network front --subnet=10.9.4.0/22 --gateway=10.9.4.1\n");
    expect(text).toContain("--ip=10.9.4.5");
    expect(text).toContain("tm_network back\n");
  });
});

describe("writeExport() of what only Podman has", () => {
  const ids = { db: "5c".repeat(32), gone: "9f".repeat(32) };
  const of = (name: string, change: RawObject) =>
    snapshot({ Name: `/${name}`, OCIRuntime: "crun", ...change }, {}, name).members;
  const both: RestorableSnapshot = {
    ...snapshot(),
    members: [
      ...of("db", { Id: ids.db }),
      ...of("web", {
        Config: { Annotations: { "run.oci.keep_original_groups": "1" }, ConmonPidFile: "/run/web.pid" },
        HostConfig: { Dependencies: [ids.db, ids.gone] },
        NetworkSettings: { Networks: { front: { InterfaceName: "eth7" } } },
      }),
    ],
  };

  test("in a script requires by name, and says what it cannot", () => {
    const text = plain("script", both);
    for (const option of ["--requires=db", `--requires=${ids.gone}`, "--conmon-pidfile=/run/web.pid"])
      expect(text).toContain(option);
    expect(text).toContain("--annotation=run.oci.keep_original_groups=1");
    expect(text).toContain("--network=front:interface_name=eth7");
    expect(text).toContain(`web: it depends on the container ${ids.gone}`);
    expect(text).not.toContain("HostConfig.Dependencies");
  });

  test("in a compose file depends on what is in it", () => {
    const text = plain("compose", both);
    expect(text).toMatch(/depends_on:\s+"?db"?:\s+"?condition"?: "?service_started/);
    expect(text).toContain("run.oci.keep_original_groups");
    expect(text).toContain("web: InterfaceName of the network front is not restored");
  });

  test("takes secrets out of a list of words too", () => {
    const Config = {
      Entrypoint: ["/serve", "--api-key=correct-horse"],
      Healthcheck: { Test: ["CMD", "/check", "a b"] },
    };
    const text = plain("script", snapshot({ OCIRuntime: "crun", Config }));
    expect(text).toContain(`'--entrypoint=["/serve","'"\${ENTRYPOINT_2}"'"]'`);
    expect(text).toContain(`'--health-cmd=["/check","a b"]'`);
    expect(text).not.toContain("correct-horse");
  });

  test("needs the podman command, and the pod before anything is touched", () => {
    const text = plain("script", snapshot({ OCIRuntime: "crun", HostConfig: { Pod: ids.gone } }));
    expect(text).toContain("for tm_name in podman; do");
    expect(text.indexOf(`tm_pod ${ids.gone}`)).toBeLessThan(text.indexOf("tm_aside web"));
    expect(text).toContain(`web: it is a member of the pod ${ids.gone}, which is not in the snapshot`);
  });
});

test("variables that mean something to a shell or to another container get names of their own", () => {
  const text = plain("script", snapshot({ Config: { Env: ["PATH=https://app:correct-horse@host/"] } }));
  expect(text).toContain(`--env=PATH="\${WEB_PATH}"`);
  expect(text).not.toContain(`"\${PATH+set}"`);
});

test.each([
  [["plain-word"], "plain-word"],
  [[""], "''"],
  [["it's"], `'it'\\''s'`],
  [["$(reboot) `reboot`\n"], "'$(reboot) `reboot`\n'"],
  [["A=", { variable: "B" }, "'"], `A="\${B}"''\\'''`],
])("quoted(%j) is one word that says just this", (word, expected) => {
  expect(quoted(word)).toBe(expected);
});

test("comment() never ends before its line does", () => {
  expect(comment("a\nreboot\u2028b\r\u0000")).toBe("# a reboot b");
});

test("yamlLines() quotes what would be read as something else", () => {
  expect(yamlLines({ yes: "no", "a: b": ["1", "\u0085\u2028", "#"], none: undefined, empty: {}, n: 1 })).toEqual([
    '"yes": "no"',
    '"a: b":',
    '  - "1"',
    '  - "\\u0085\\u2028"',
    '  - "#"',
    "empty: {}",
    '"n": 1',
  ]);
});
