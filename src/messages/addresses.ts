import type { Area } from "./types.ts";

type Typed = { typed: string };

/** Addresses of sources: repositories, projects, charts and registries. */
export const addresses = {
  repository_wanted: 'Enter a repository such as "owner/repo"',
  project_wanted: 'Enter a project such as "group/project"',
  chart_wanted: 'Enter a chart name such as "ingress-nginx"',
  chart_repository_wanted:
    'Enter an address such as "https://charts.example.com" or "oci://registry.example.com/charts"',
  image_wanted: 'Enter an image name such as "library/nginx" or "ghcr.io/owner/app"',
  instance_wanted: 'Enter the address of the Gitea or Forgejo instance, such as "https://codeberg.org"',

  with_user: "The address has a user name or password; store a credential instead",
  no_address: ({ typed, example }: Typed & { example: string }) =>
    `"${typed}" is not an address; enter one such as "${example}"`,
  not_http: ({ typed }: Typed) => `"${typed}" is not an http or https address`,
  with_query: ({ typed }: Typed) => `"${typed}" is more than an address; remove everything from "?" or "#" on`,
  instance_alone: ({ typed, origin }: Typed & { origin: string }) =>
    `Enter only the instance: "${origin}", not "${typed}"`,
  on_another_instance: ({ typed, instance }: Typed & { instance: string }) =>
    `"${typed}" is not on the instance "${instance}"`,
  no_repository: ({ typed }: Typed) => `"${typed}" is not a repository; enter it as "owner/repo"`,
  no_address_of_repository: ({ typed }: Typed) => `"${typed}" is not the address of a repository`,
  no_project: ({ typed }: Typed) => `"${typed}" is not a project; enter it as "group/project" or as its numeric ID`,
  no_address_of_project: ({ typed }: Typed) => `"${typed}" is not the address of a project`,
  no_chart_name: ({ typed }: Typed) =>
    `"${typed}" is not a chart name; use letters, digits, dots, hyphens and underscores, as in "ingress-nginx"`,
  no_chart_repository: ({ typed }: Typed) =>
    `"${typed}" is not the address of a chart repository; start it with "https://", "http://" or "oci://"`,
  with_blanks: ({ typed }: Typed) => `"${typed}" has spaces, backslashes or control characters`,
  no_registry: ({ registry }: { registry: string }) => `The registry "${registry}" is not a usable address`,
} satisfies Area;
