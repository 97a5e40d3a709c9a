import { connections } from "./tables.ts";

/** What determines whether the runtime of a connection responds; `reachOf` judges it. */
export const lookColumns = {
  is_enabled: connections.is_enabled,
  seen_at: connections.seen_at,
  missed_looks: connections.missed_looks,
  missed_since: connections.missed_since,
  fault_code: connections.fault_code,
  fault: connections.fault,
  next_look_at: connections.next_look_at,
};
