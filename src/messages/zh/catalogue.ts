import type { Catalogue } from "../catalogue.ts";
import type { Rendering } from "../types.ts";
import { auth } from "./auth.ts";
import { checks } from "./checks.ts";
import { credentials } from "./credentials.ts";
import { fields } from "./fields.ts";
import { net } from "./net.ts";
import { notifications } from "./notifications.ts";
import { oidc } from "./oidc.ts";
import { phrases } from "./phrases.ts";
import { request } from "./request.ts";
import { settings } from "./settings.ts";
import { thing } from "./thing.ts";

/** 目录中每个句子的中文。 */
export const catalogue = {
  auth,
  checks,
  credentials,
  fields,
  net,
  notifications,
  oidc,
  phrases,
  request,
  settings,
  thing,
} satisfies { readonly [A in Exclude<keyof Catalogue, "text">]: Rendering<Catalogue[A]> };
