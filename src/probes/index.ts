import { http } from "./http.ts";
import { native } from "./native.ts";
import type { Probe, ProbeKind } from "./probe.ts";
import { tcp } from "./tcp.ts";

/** Every probe kind; a missing one does not compile. */
export const probes = { native, http, tcp } satisfies { readonly [K in ProbeKind]: Probe<K> };
