import { toIso } from "../../clock.ts";

const instantName = /(^|_)(at|since|until)$/;

/** A view for the wire: instants, in milliseconds internally, become `2026-11-21T03:12:09.100Z`. */
export function toWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toWire);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      typeof item === "number" && instantName.test(key) ? toIso(item) : toWire(item),
    ]),
  );
}
