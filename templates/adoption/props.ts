import type { AdoptionProposalsView } from "../../src/adoption/schema.ts";
import type { ConnectionView } from "../../src/connections/schema.ts";
import type { Message } from "../../src/messages/message.ts";
import type { PageContext } from "../page.ts";

export interface AdoptPageProps {
  ctx: PageContext;
  connection: ConnectionView;
  /** Null for a disabled connection. */
  found: { list: AdoptionProposalsView } | { failure: Message } | null;
  filters: { search: string; namespace: string | null; is_none_chosen: boolean };
  /** Credentials for registries. */
  credentials: readonly { id: string; name: string }[];
  error?: Message | undefined;
}

export const adoptPath = (connectionId: string) => `/connections/${connectionId}/adopt`;
