import type { Artifact } from "../../runtimes/target.ts";
import type { ArtifactRules } from "./artifact.ts";
import { chart } from "./chart.ts";
import { image } from "./image.ts";

/** Every kind of artifact; another kind is a file in this folder and an entry here. */
export const artifacts = { image, chart } satisfies { readonly [K in Artifact["kind"]]: ArtifactRules };
