import type { Area } from "./types.ts";

/** The settings of the installation. */
export const settings = {
  base_url_unusable: ({ text }: { text: string }) =>
    `"${text}" is not a URL; enter one such as "https://tidemark.example.org"`,
  base_url_scheme: ({ scheme }: { scheme: string }) => `The scheme must be http or https, not ${scheme}`,
  base_url_surplus: "User, query and fragment are not allowed; remove them",
  base_url_path: ({ text }: { text: string }) =>
    `The path of "${text}" cannot be used; use only letters (a to z, A to Z), digits, ".", "_", "~" and "-" in each part, for example "https://example.org/tidemark"`,
  base_url_elsewhere: ({ address }: { address: string }) =>
    `You are using ${address}. With this base URL, sign-in and forms will only work at the base URL`,
  time_zone: 'Enter the name of a time zone, for example "Europe/Berlin" or "UTC"',
  set_by_environment: ({ variable }: { variable: string }) =>
    `The environment variable ${variable} sets this; change it there`,
} satisfies Area;
