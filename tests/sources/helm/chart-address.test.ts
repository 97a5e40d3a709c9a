import { describe, expect, test } from "bun:test";
import { AddressError } from "../../../src/sources/address-fields.ts";
import { parseChartAddress } from "../../../src/sources/helm/chart-address.ts";

describe("parseChartAddress()", () => {
  test.each([
    ["https://charts.example", "https://charts.example/index.yaml"],
    ["https://charts.example/a/", "https://charts.example/a/index.yaml"],
    ["https://charts.example/a//index.yaml#x", "https://charts.example/a/index.yaml"],
    ["HTTP://charts.example:8080/a?sig=1", "http://charts.example:8080/a/index.yaml?sig=1"],
  ])("reads %p as a repository with an index", (address, index) => {
    const parsed = parseChartAddress("app", ` ${address} `);
    expect(parsed.form === "index" ? parsed.index.href : null).toBe(index);
  });

  test.each([
    ["oci://ghcr.io/acme/charts", "https://ghcr.io", "acme/charts/app"],
    ["oci://ghcr.io/acme/charts/app/", "https://ghcr.io", "acme/charts/app"],
    ["oci://registry-1.docker.io/acme", "https://registry-1.docker.io", "acme/app"],
    ["oci://127.0.0.1:5000", "https://127.0.0.1:5000", "app"],
    ["oci+http://127.0.0.1:5000/x", "http://127.0.0.1:5000", "x/app"],
  ])("reads %p as a registry", (address, origin, name) => {
    expect(parseChartAddress("app", address)).toMatchObject({ form: "registry", repository: { origin, name } });
  });

  test.each([
    ["", "https://charts.example", "chart"],
    ["a/b", "https://charts.example", "chart"],
    ["a b", "https://charts.example", "chart"],
    ["..", "https://charts.example", "chart"],
    ["app", "", "repository_url"],
    ["app", "charts.example", "repository_url"],
    ["app", "file:///etc", "repository_url"],
    ["app", "https://", "repository_url"],
    ["app", "https://charts.example/a b", "repository_url"],
    ["app", "https:\\\\charts.example", "repository_url"],
    ["app", "https://user@charts.example", "repository_url"],
    ["app", "oci://", "repository_url"],
    ["app", "oci://user@charts.example/x", "repository_url"],
    ["app", "oci://charts.example/x?y=1", "repository_url"],
    ["app", "oci://charts.example/x:1.0", "repository_url"],
  ])("refuses %p in %p and names the field", (chart, address, field) => {
    let error: unknown = null;
    try {
      parseChartAddress(chart, address);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(AddressError);
    expect(error).toMatchObject({ field, message: expect.not.stringMatching(/user@|\.$/) });
  });
});
