import type { Area, Message } from "./types.ts";

/** Deliveries of notifications, and why they failed. */
export const notifications = {
  kind_unknown: ({ kind }: { kind: string }) =>
    `This version of Tidemark does not support notifiers of type "${kind}"; update Tidemark, or delete the notifier`,
  queue_full: ({ limit }: { limit: number }) => `The queue of this notifier is full (${limit} deliveries are waiting)`,
  destination_redirects: "The destination redirects, which is not followed; enter the final address",
  receiver_gone: "The receiver returned 410 Gone: sending has stopped",
  receiver_was_gone: "The receiver returned 410 Gone earlier",
  receiver_answered: ({ status }: { status: number }) => `The receiver returned ${status}`,
  test_of_disabled: ({ name }: { name: string }) =>
    `The notifier "${name}" is disabled and sends nothing; enable it to send a test message`,
  unreadable: ({ name, cause }: { name: string; cause: Message }, tell) =>
    `The notifier "${name}" cannot send: ${tell(cause)}. Edit the notifier and enter its webhook URL again`,
  url_wanted: "Enter the URL again, too: the stored one cannot be read",
  notifier_disabled: "The notifier is disabled",
} satisfies Area;
