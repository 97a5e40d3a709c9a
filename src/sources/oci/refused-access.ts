import { type Message, say } from "../../messages/message.ts";
import { DOCKER_HUB } from "../../versions/image-reference.ts";
import { type Explain, explainAccess } from "../failure.ts";
import type { Repository } from "./repository.ts";
import type { OciSecret } from "./schema.ts";

/** What a credential needs, by registry; others use their own names for it. */
const unreadable: Readonly<Record<string, Message>> = {
  [DOCKER_HUB]: say("sources.hub_unreadable"),
  "ghcr.io": say("sources.ghcr_unreadable"),
};

/**
 * What a refusal of a registry may mean: `DENIED`, `UNAUTHORIZED` and `insufficient_scope` are its responses for a private repository and
 * for none. `login` explains those for the credential itself, where a 401 means that it is wrong.
 */
export function explainRegistry(
  { registry }: Repository,
  secret: OciSecret | null,
): { explain: Explain; login: Explain } {
  const terms = {
    has_credential: secret !== null,
    hidden: say("sources.private_or_missing"),
    unreadable: unreadable[registry] ?? say("sources.registry_unreadable"),
  };
  return {
    explain: explainAccess({ ...terms, hiding: { anonymous: [401, 403], signed_in: [401, 403] } }),
    login: explainAccess({ ...terms, hiding: { anonymous: [401, 403], signed_in: [403] } }),
  };
}
