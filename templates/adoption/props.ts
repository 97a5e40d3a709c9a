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
  /** What was entered so far; null shows what is proposed. */
  entered: FormData | null;
}

/** What was entered in a field; `proposed` where the form did not have it. */
export function enteredText(entered: FormData | null, name: string, proposed: string): string {
  const value = entered?.get(name);
  return typeof value === "string" ? value : proposed;
}

/** What was ticked of rows that a filter hides. */
export const hiddenTicks = (name: string) => `hidden_${name}`;

/** Whether a checkbox of a row is ticked; `proposed` if the form did not contain the row, which its text field shows. */
export function isTicked(
  entered: FormData | null,
  row: string,
  name: string,
  value: string,
  proposed: boolean,
): boolean {
  if (entered?.has(row) !== true) return proposed;
  return [name, hiddenTicks(name)].some((each) => entered.getAll(each).includes(value));
}

export const adoptPath = (connectionId: string) => `/connections/${connectionId}/adopt`;
