import type { Area } from "./types.ts";

/** The settings of the installation. */
export const settings = {
  base_url_unusable: ({ text }: { text: string }) =>
    `The base URL "${text}" is not a URL; enter for example "https://tidemark.example.org"`,
  base_url_scheme: ({ scheme }: { scheme: string }) =>
    `The base URL has the scheme "${scheme}"; it must be http or https`,
  base_url_surplus: "The base URL must have no user, query or fragment",
  base_url_path: ({ text }: { text: string }) =>
    `The path of the base URL "${text}" cannot be used; use only letters (a to z, A to Z), digits, ".", "_", "~" and "-" in each part, for example "https://example.org/tidemark"`,
  base_url_elsewhere: ({ address }: { address: string }) =>
    `You are using ${address}. With this base URL, sign-in and forms will only work at the base URL`,
  time_zone: 'Enter the name of a time zone, for example "Europe/Berlin" or "UTC"',
  set_by_environment: ({ variable }: { variable: string }) =>
    `The environment variable ${variable} sets this; change it there`,
} satisfies Area;
