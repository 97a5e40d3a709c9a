import { customType } from "drizzle-orm/sqlite-core";
import { fromText, type Message, toText } from "../messages/message.ts";

/** A message as data in a text column. Rows of earlier versions hold English, which is shown unchanged. */
export const saidText = customType<{ data: Message; driverData: string }>({
  dataType: () => "text",
  toDriver: toText,
  fromDriver: fromText,
});
