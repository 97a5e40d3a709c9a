import { docker } from "./docker/index.ts";
import { podman } from "./podman/index.ts";
import type { Runtime, RuntimeKind } from "./runtime.ts";

/** Every runtime kind; a further kind is a folder beside `docker/` and a line here. */
export const runtimes = { docker, podman } satisfies { readonly [K in RuntimeKind]: Runtime<K> };
