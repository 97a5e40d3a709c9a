import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { configVariables, readConfig } from "../src/config.ts";

describe("readConfig()", () => {
  test("needs nothing", () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      host: "127.0.0.1",
      port: 8080,
      base_url: null,
      log_level: null,
      log_format: "text",
    });
    expect(config.data_dir).toEndWith("/data");
    expect(config.database_url).toBe(`file:${config.data_dir}/tidemark.db`);
  });

  test("takes a blank variable as one that is not set", () => {
    expect(readConfig({ PORT: " ", BASE_URL: "" })).toEqual(readConfig({}));
  });

  test.each([
    [{ PORT: "80a" }, 'PORT is "80a"; it must be a number from 0 to 65535'],
    [{ PORT: "70000" }, 'PORT is "70000"; it must be a number from 0 to 65535'],
    [{ LOG_LEVEL: "loud" }, 'LOG_LEVEL is "loud"; it must be one of debug, info, warning, error'],
    [{ LOG_FORMAT: "xml" }, 'LOG_FORMAT is "xml"; it must be one of text, json'],
    [{ BASE_URL: "tidemark.example" }, 'BASE_URL: "tidemark.example" is not a URL; enter one such as'],
    [{ BASE_URL: "ftp://a.example" }, "BASE_URL: the scheme must be http or https, not ftp"],
    [{ BASE_URL: "https://u:p@a.example" }, "BASE_URL: user, query and fragment are not allowed; remove them"],
    [{ BASE_URL: "https://a.example/a;b" }, 'BASE_URL: the path of "https://a.example/a;b" cannot be used'],
    [{ DATABASE_URL: "postgres://x" }, 'DATABASE_URL starts with "postgres://x"'],
    [{ TRUSTED_PROXIES: "10.0.0.0/33" }, 'TRUSTED_PROXIES has "10.0.0.0/33"'],
    [{ TRUSTED_PROXIES: "proxy" }, 'TRUSTED_PROXIES has "proxy"'],
  ])("refuses %j with a sentence", (environment, sentence) => {
    expect(() => readConfig(environment)).toThrow(sentence);
  });

  test.each([
    "short",
    "0123456789abcdef 0123456789abcdef",
    "x".repeat(64),
    "changeme-0123456789abcdefghijklmnop",
    "令牌".repeat(20),
  ])("refuses the metrics token %p, and does not repeat it", (token) => {
    const attempt = () => readConfig({ METRICS_TOKEN: token });
    expect(attempt).toThrow("METRICS_TOKEN is not usable; it must be at least 32 random characters without spaces");
    expect(attempt).not.toThrow(token);
  });

  test("takes a random metrics token", () => {
    const token = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    expect(readConfig({ METRICS_TOKEN: token }).metrics_token).toBe(token);
  });

  test("gives the base URL in the form that everything else compares with", () => {
    expect(readConfig({ BASE_URL: "HTTPS://Tide.Example:443/Sub/" }).base_url).toBe("https://tide.example/Sub");
  });

  test("names every wrong variable at once", () => {
    expect(() => readConfig({ PORT: "x", LOG_LEVEL: "y" })).toThrow(/PORT[\s\S]*LOG_LEVEL/);
  });

  test("reads lists of proxies", () => {
    const { trusted_proxies } = readConfig({ TRUSTED_PROXIES: "10.0.0.1, 192.168.0.0/16 fd00::/8" });
    expect(trusted_proxies).toEqual(["10.0.0.1", "192.168.0.0/16", "fd00::/8"]);
  });
});

describe("the table of variables in the README", () => {
  const readme = readFileSync(join(import.meta.dir, "../README.md"), "utf8");
  const section = readme.split("\n## Configuration\n")[1]?.split("\n## ")[0] ?? "";
  const cells = section.split("\n").flatMap((line) => /^\| (`[^|]*) \|/.exec(line)?.[1] ?? []);
  const documented = cells.flatMap((cell) => [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, name = ""]) => name));

  test("names each variable that is read, once, and no other", () => {
    const read = new Set<string>();
    const environment = new Proxy<Record<string, string>>(
      {},
      {
        get: (_target, name) => {
          read.add(String(name));
          return undefined;
        },
      },
    );
    readConfig(environment);
    expect(documented.toSorted()).toEqual([...read].toSorted());
    expect(documented.toSorted()).toEqual([...configVariables].toSorted());
  });
});
