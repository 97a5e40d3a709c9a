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
import { text } from "./text.ts";
import { thing } from "./thing.ts";

/** Every sentence that the product says to people, in English, by area. Other languages are renderings of the same keys. */
export const english = {
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
  text,
  thing,
};

export type Catalogue = typeof english;
