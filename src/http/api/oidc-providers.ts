import { PageQuery } from "../../forms/page.ts";
import {
  BindingStartView,
  BindingView,
  PasswordConfirmation,
  ProviderInput,
  ProviderPatch,
  ProviderView,
} from "../../oidc/schema.ts";
import type { Services } from "../../services.ts";
import { requireSession } from "../current-session.ts";
import { readAttemptCookie, writeAttemptCookie } from "../oidc-cookie.ts";
import { resourceRoutes } from "./resource.ts";
import { type Route, routesOf } from "./route.ts";

const tag = "oidc_providers";
const route = routesOf(tag);
const throttled = "Too many failed attempts; `Retry-After` says when";

/** The binding first: `admin-binding` is no provider's id. */
function bindingRoutes({ oidc, baseUrl, clock }: Services): readonly Route[] {
  return [
    route("GET", "/oidc-providers/admin-binding", {
      operation_id: "get_admin_binding",
      summary: "Get the identity that the administrator is bound to",
      answer: { status: 200, description: "The binding, or that there is none", schema: BindingView },
      perform: () => oidc.binding(),
    }),
    route("POST", "/oidc-providers/{provider_id}/admin-binding/authorize", {
      operation_id: "authorize_admin_binding",
      summary: "Start the binding; the cookie in the response ties it to the browser that opens the address",
      body: PasswordConfirmation,
      answer: { status: 200, description: "Where to sign in at the provider", schema: BindingStartView },
      refusals: {
        409: "`bound`, `provider_disabled`, `base_url_required`, or `conflict`: the provider was changed in the meantime",
        429: throttled,
        424: "`provider_unusable`: its discovery document cannot be read or used",
      },
      perform: async ({ context, param, body }) => {
        const from = {
          actor: context.get("actor"),
          session: requireSession(context),
          browser: readAttemptCookie(context, baseUrl),
        };
        const started = await oidc.startBinding(from, param("provider_id"), body);
        writeAttemptCookie(context, baseUrl, started.browser, Math.floor((started.expires_at - clock.now()) / 1000));
        return { authorization_url: started.authorization_url };
      },
    }),
    route("POST", "/oidc-providers/admin-binding/unbind", {
      operation_id: "unbind_admin_binding",
      summary: "Remove the binding, even if the provider does not respond; open sessions continue",
      body: PasswordConfirmation,
      answer: { status: 200, description: "There is no binding any more", schema: BindingView },
      refusals: { 409: "`not_bound`: there is no binding", 429: throttled },
      perform: ({ context, body }) => oidc.unbind(context.get("actor"), requireSession(context), body),
    }),
  ];
}

/** The identity provider (at most one) and its binding to the administrator. */
export function oidcProviderRoutes(services: Services): readonly Route[] {
  return [
    ...bindingRoutes(services),
    ...resourceRoutes({
      path: "/oidc-providers",
      tag,
      name: "oidc_provider",
      word: "provider",
      service: services.oidc,
      view: ProviderView,
      list: { summary: "List identity providers; there is at most one", query: PageQuery },
      create: {
        summary: "Add the identity provider; it cannot be used to sign in until an account is bound",
        body: ProviderInput,
        event: "oidc_provider_created",
        refusals: { 409: "There is already a provider" },
      },
      get: { summary: "Get the identity provider, without its client secret" },
      update: {
        summary: "Change the identity provider; omitted fields and a blank client secret are unchanged",
        body: ProviderPatch,
        refusals: { 409: "`bound`: only `is_enabled` can change while an account is bound" },
      },
      remove: { summary: "Delete the identity provider", refusals: { 409: "`bound`: remove the binding first" } },
    }),
  ];
}
