import { gitea } from "./gitea/gitea.ts";
import { github } from "./github/github.ts";
import { gitlab } from "./gitlab/gitlab.ts";
import { helm } from "./helm/helm.ts";
import { oci } from "./oci/oci.ts";
import type { Source, SourceKind } from "./source.ts";

/** Every kind of source by its name: a new kind is one line here, one in `sourceKinds` and one folder. */
export const sources = { gitea, github, gitlab, helm, oci } satisfies { readonly [K in SourceKind]: Source<K> };
