import { integer, text } from "drizzle-orm/sqlite-core";
import type { Sealed } from "../../secrets/sealed.ts";

// Ids are UUIDv7 text, instants integer milliseconds UTC, booleans 0/1, JSON is text.
// Names equal the fields of the API. `sealed` columns hold Fernet tokens of secrets/sealed.ts and nothing else.

export const id = () => text("id").primaryKey();
export const instant = (name: string) => integer(name);
export const flag = (name: string) => integer(name, { mode: "boolean" });
export const sealed = (name: string) => text(name).$type<Sealed>().notNull();
export const json = <T>(name: string) => text(name, { mode: "json" }).$type<T>();
export type JsonObject = Readonly<Record<string, unknown>>;
