import { customType, integer, text } from "drizzle-orm/sqlite-core";
import { frozen } from "../../frozen.ts";
import { RecentMap } from "../../recent-map.ts";
import type { Sealed } from "../../secrets/sealed.ts";

// Ids are UUIDv7 text, instants integer milliseconds UTC, booleans 0/1, JSON is text.
// Names equal the fields of the API. `sealed` columns hold Fernet tokens of secrets/sealed.ts and nothing else.

export const id = () => text("id").primaryKey();
export const instant = (name: string) => integer(name);
export const flag = (name: string) => integer(name, { mode: "boolean" });
export const sealed = (name: string) => text(name).$type<Sealed>().notNull();
export const json = <T>(name: string) => text(name, { mode: "json" }).$type<T>();
export type JsonObject = Readonly<Record<string, unknown>>;

const maxRemembered = 2_000;

/** JSON of many rows that pages read far more often than it changes: an equal text is parsed once and gives the same frozen value. */
export function rememberedJson<T extends object>(name: string) {
  const values = new RecentMap<string, T>(maxRemembered);
  return customType<{ data: T; driverData: string }>({
    dataType: () => "text",
    toDriver: (value) => JSON.stringify(value),
    fromDriver(stored) {
      const value = values.get(stored) ?? frozen<T>(JSON.parse(stored));
      values.set(stored, value);
      return value;
    },
  })(name);
}
