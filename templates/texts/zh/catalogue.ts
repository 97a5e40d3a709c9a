import type { Catalogue } from "../../../src/messages/catalogue.ts";
import type { Rendering } from "../../../src/messages/types.ts";
import { checks } from "./messages/checks.ts";
import { fields } from "./messages/fields.ts";
import { net } from "./messages/net.ts";
import { notifications } from "./messages/notifications.ts";
import { request } from "./messages/request.ts";
import { thing } from "./messages/thing.ts";

/** 目录中每个句子的中文。 */
export const catalogue = {
  checks,
  fields,
  net,
  notifications,
  request,
  thing,
} satisfies { readonly [A in Exclude<keyof Catalogue, "text">]: Rendering<Catalogue[A]> };
