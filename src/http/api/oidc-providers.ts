import type { Clock } from "../../clock.ts";
import { PageQuery } from "../../forms/page.ts";
import {
  BindingStartView,
  BindingView,
  PasswordConfirmation,
  ProviderInput,
  ProviderPatch,
  ProviderView,
} from "../../oidc/schema.ts";
import type { OidcService } from "../../oidc/service.ts";
import { requireSession } from "../current-session.ts";
import { readAttemptCookie, writeAttemptCookie } from "../oidc-cookie.ts";
import { pageOf } from "../openapi.ts";
import type { BaseUrl } from "../session-cookie.ts";
import type { Route } from "./route.ts";

interface OidcRouteServices {
  oidc: OidcService;
  baseUrl: BaseUrl;
  clock: Clock;
}

const tag = "oidc_providers";
const throttled = "Too many failed attempts; `Retry-After` says when";

/** The binding first: `admin-binding` is no provider's id. */
function bindingRoutes({ oidc, baseUrl, clock }: OidcRouteServices): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/oidc-providers/admin-binding",
      operation_id: "get_admin_binding",
      summary: "Read which identity of the provider is the administrator's",
      tag,
      access: "read",
      answer: { status: 200, description: "The binding, or that there is none", schema: BindingView },
      perform: () => oidc.binding(),
    },
    {
      method: "POST",
      path: "/oidc-providers/{provider_id}/admin-binding/authorize",
      operation_id: "authorize_admin_binding",
      summary: "Begin the binding; the answer's cookie ties it to the browser that opens the address",
      tag,
      access: "full",
      body: PasswordConfirmation,
      answer: { status: 200, description: "Where to sign in at the provider", schema: BindingStartView },
      refusals: {
        409: "`bound`, `provider_disabled`, `base_url_required`, or `conflict`: the provider was changed meanwhile",
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
    },
    {
      method: "POST",
      path: "/oidc-providers/admin-binding/unbind",
      operation_id: "unbind_admin_binding",
      summary: "Remove the binding, whether or not the provider answers; open sessions go on",
      tag,
      access: "full",
      body: PasswordConfirmation,
      answer: { status: 200, description: "That there is no binding any more", schema: BindingView },
      refusals: { 409: "`not_bound`: there is no binding", 429: throttled },
      perform: ({ context, body }) => oidc.unbind(context.get("actor"), requireSession(context), body),
    },
  ];
}

/** The identity provider, of which there is at most one, and its binding to the administrator. */
export function oidcProviderRoutes(services: OidcRouteServices): readonly Route[] {
  const { oidc } = services;
  return [
    ...bindingRoutes(services),
    {
      method: "GET",
      path: "/oidc-providers",
      operation_id: "list_oidc_providers",
      summary: "List identity providers; there is at most one",
      tag,
      access: "read",
      query: PageQuery,
      answer: { status: 200, description: "A page of providers", schema: pageOf(ProviderView) },
      perform: ({ query }) => oidc.list(query),
    },
    {
      method: "POST",
      path: "/oidc-providers",
      operation_id: "create_oidc_provider",
      summary: "Configure the identity provider; it signs nobody in before a binding was completed",
      tag,
      access: "full",
      body: ProviderInput,
      answer: { status: 201, description: "The provider", schema: ProviderView },
      refusals: { 409: "There is a provider already" },
      idempotent: { events: ["oidc_provider_created"], again: ({ id }) => oidc.get(id) },
      perform: ({ context, body }) => oidc.create(context.get("actor"), body),
    },
    {
      method: "GET",
      path: "/oidc-providers/{id}",
      operation_id: "get_oidc_provider",
      summary: "Read the identity provider, without its client secret",
      tag,
      access: "read",
      answer: { status: 200, description: "The provider", schema: ProviderView },
      perform: ({ param }) => oidc.get(param("id")),
    },
    {
      method: "PATCH",
      path: "/oidc-providers/{id}",
      operation_id: "update_oidc_provider",
      summary: "Change the identity provider; what is left out stays, and a blank client secret too",
      tag,
      access: "full",
      body: ProviderPatch,
      answer: { status: 200, description: "The provider", schema: ProviderView },
      refusals: { 409: "`bound`: nothing of it but `is_enabled` changes while it holds the binding" },
      perform: ({ context, param, body }) => oidc.update(context.get("actor"), param("id"), body),
    },
    {
      method: "DELETE",
      path: "/oidc-providers/{id}",
      operation_id: "delete_oidc_provider",
      summary: "Delete the identity provider",
      tag,
      access: "full",
      answer: { status: 204, description: "Deleted", schema: null },
      refusals: { 409: "`bound`: remove the binding first" },
      perform: ({ context, param }) => oidc.remove(context.get("actor"), param("id")),
    },
  ];
}
