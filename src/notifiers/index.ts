import type { Notifier, NotifierKind } from "./notifier.ts";
import { webhook } from "./webhook.ts";

/** Every notifier kind; a missing one does not compile. */
export const notifiers = { webhook } satisfies { readonly [K in NotifierKind]: Notifier<K> };
