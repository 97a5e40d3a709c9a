import { customType } from "drizzle-orm/sqlite-core";
import { fromText, type Message, toText } from "../messages/message.ts";

/** A sentence as data in a text column. Rows of earlier versions have English there, which is shown as it is. */
export const saidText = customType<{ data: Message; driverData: string }>({
  dataType: () => "text",
  toDriver: toText,
  fromDriver: fromText,
});
