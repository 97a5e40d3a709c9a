import { customType, integer, text } from "drizzle-orm/sqlite-core";
import { frozen } from "../../frozen.ts";
import type { Sealed } from "../../secrets/sealed.ts";

// Ids are UUIDv7 text, instants integer milliseconds UTC, booleans 0/1, JSON is text.
// Names equal the fields of the API. `sealed` columns hold Fernet tokens of secrets/sealed.ts and nothing else.

export const id = () => text("id").primaryKey();
export const instant = (name: string) => integer(name);
export const flag = (name: string) => integer(name, { mode: "boolean" });
export const sealed = (name: string) => text(name).$type<Sealed>().notNull();
export const json = <T>(name: string) => text(name, { mode: "json" }).$type<T>();
export type JsonObject = Readonly<Record<string, unknown>>;

/** Until a text is forgotten that is not read again, this many to twice as many characters of others are read. */
const charactersKept = 2_000_000;

/** JSON of many rows that pages read far more often than it changes: an equal text is parsed once and gives the same frozen value. */
export function rememberedJson<T extends object>(name: string, characters = charactersKept) {
  let recent = new Map<string, T>();
  let former: ReadonlyMap<string, T> = new Map();
  let added = 0;
  return customType<{ data: T; driverData: string }>({
    dataType: () => "text",
    toDriver: (value) => JSON.stringify(value),
    fromDriver(stored) {
      const known = recent.get(stored);
      if (known !== undefined) return known;
      const value = former.get(stored) ?? frozen<T>(JSON.parse(stored));
      if (added >= characters) [former, recent, added] = [recent, new Map(), 0];
      recent.set(stored, value);
      added += stored.length;
      return value;
    },
  })(name);
}
