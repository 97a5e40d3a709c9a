import type { Area, Message } from "./types.ts";

type Provider = { name: string };

const secretAgain = {
  bound: "Remove the binding, enter the client secret again and bind your account again",
  free: "Enter it again in the provider's form",
};

/** Signing in with an identity provider, and the provider itself. */
export const oidc = {
  refused:
    "The identity provider could not sign you in; sign in with the password instead. The audit log has the reason",
  provider_unreachable:
    "The identity provider does not respond; check that it is running and that the issuer URL is correct",
  metadata_invalid:
    "The identity provider's discovery document cannot be used; check the issuer URL, or turn off discovery and enter the endpoints",
  metadata_issuer_wrong:
    "The identity provider's discovery document names another issuer; enter that one as the issuer URL, exactly as it is written there",
  endpoint_not_https:
    "The identity provider names an endpoint that is not https; correct its address in the settings of the provider itself",
  provider_unusable: "The identity provider cannot be used",
  secret_unreadable: ({ name, cause, is_bound }: Provider & { cause: Message; is_bound: boolean }, tell) =>
    `The provider "${name}" cannot be used: ${tell(cause)}. ${secretAgain[is_bound ? "bound" : "free"]}`,

  already_bound: "The administrator is already bound; remove that binding first",
  not_bound: "There is no binding to remove",
  provider_disabled: ({ name }: Provider) => `The provider "${name}" is disabled; enable it first`,
  provider_changed: ({ name }: Provider) =>
    `The provider "${name}" was changed in the meantime; start the binding again`,
  base_url_missing: "Set the base URL first; the provider redirects the browser to it",
  bound_provider_changed: ({ name }: Provider) =>
    `The administrator is bound to the provider "${name}"; remove the binding before you make changes other than enabling or disabling it`,
  bound_provider_deleted: ({ name }: Provider) =>
    `The administrator is bound to the provider "${name}"; remove the binding before you delete it`,
  only_one_provider: ({ name }: Provider) =>
    `Only one provider can be configured; change or delete the provider "${name}"`,

  address_form: ({ example }: { example: string }) =>
    `Enter an https URL without a user name or fragment, for example "${example}"`,
  address_not_https: "The address must be an https URL",
  address_refused: "This is the address of a cloud's metadata service; enter the address of the identity provider",
  address_missing: "This address is required without discovery",
  slug_form: "Use lowercase letters, digits and hyphens; start and end with a letter or digit",
  printable_ascii: "Use printable ASCII characters",
  issuer_with_query: "An issuer URL has no query; remove the question mark and everything after it",
  scopes_form: "Enter scopes separated by spaces",
  scopes_without_openid: 'The scopes must include "openid"',
  icon_not_https: "The icon must be at an https URL",
} satisfies Area;
