import type { Area } from "./types.ts";

type Image = { image: string };

/** Invalid image references. */
export const images = {
  blank: "The image is blank; enter one such as nginx:1.27",
  too_long: ({ image, limit }: Image & { limit: number }) => `The image "${image}" is longer than ${limit} characters`,
  id: ({ image }: Image) => `"${image}" is an image ID and has no repository name`,
  two_registries: ({ image, named, address }: Image & { named: string; address: string }) =>
    `The image "${image}" names the registry ${named}, and the registry address is ${address}; leave one of them out`,
  scheme: ({ image, scheme }: Image & { scheme: string }) =>
    `The image "${image}" starts with ${scheme}://; leave that out, or use http:// for a registry without TLS`,
  owner_as_registry: ({ address, host, port }: { address: string; host: string; port: number }) =>
    `The registry address "${address}" would be read as an owner on Docker Hub; add the port: "${host}:${port}"`,
  uppercase: ({ image, lower }: Image & { lower: string }) =>
    `The image "${image}" has uppercase letters in its repository; enter "${lower}"`,
  repository: ({ image }: Image) =>
    `The image "${image}" has no valid repository; use lowercase letters and digits, single . _ - between them, and / between its parts`,
  tag: ({ tag, image }: Image & { tag: string }) =>
    `The tag "${tag}" of "${image}" is not valid; use 1 to 128 letters, digits, . _ and -, and do not start with . or -`,
  digest: ({ digest, image }: Image & { digest: string }) =>
    `The digest "${digest}" of "${image}" is not valid; enter sha256: and 64 lowercase hexadecimal digits`,
  registry: ({ registry, image }: Image & { registry: string }) =>
    `"${registry}" in "${image}" is not a registry; enter a host such as ghcr.io or registry.example.com:5000`,
  no_name_to_keep:
    "The container runs an image by its ID, so there is no name to keep; use the tracker's image and tag",
  digest_unknown: ({ image }: Image) =>
    `The digest of "${image}" is unknown, so it cannot be pinned; check the tracker, or use the tag`,

  id_wanted: 'Enter the ID of the image: "sha256:" and 64 hexadecimal digits',
  container: "a container",
  snapshot_of: ({ executor }: { executor: string }) => `a snapshot of "${executor}"`,
  not_ours: ({ image }: Image) => `Tidemark does not use the image "${image}"; remove it manually`,
} satisfies Area;
