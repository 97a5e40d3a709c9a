import * as v from "valibot";
import { CurrentPassword } from "../auth/schema.ts";
import { Description, Instant, Name, NullableInstant } from "../forms/inputs.ts";
import { issue } from "../messages/message.ts";
import { ProblemSchema } from "../messages/schema.ts";

const maximumUrlCharacters = 2048;

/** A host with optional port, path and query: nothing for the URL parser to repair, no user, no fragment. */
const webAddress = /^https?:\/\/[^\s/?#@\\]+(?:[/?][^\s#\\]*)?$/;

/** True for https addresses, and for http where the service's `scheme` rules allow it. */
function isWebAddress(text: string): boolean {
  return webAddress.test(text) && !/\p{Cc}/u.test(text) && URL.canParse(text);
}

const address = (title: string, description: string, example: string) =>
  v.pipe(
    v.string(),
    v.maxLength(maximumUrlCharacters),
    v.check(isWebAddress, issue("oidc.address_form", { example })),
    v.title(title),
    v.description(description),
    v.metadata({ code: true, placeholder: example }),
  );

/** Entered and stored only while discovery is off. */
const endpoint = (title: string, description: string, example: string, required: boolean) =>
  v.optional(
    v.nullable(
      v.pipe(
        address(title, description, example),
        v.metadata({ required, shown_when: { field: "is_discovery_enabled", is: ["false"] } }),
      ),
    ),
    null,
  );

const slugPattern = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/** Each scope is a token of RFC 6749, 3.3. */
const scopesPattern = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

const entries = {
  display_name: v.pipe(Name, v.title("Display name"), v.description("The label of the button on the sign-in page")),
  slug: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(64),
    v.regex(slugPattern, issue("oidc.slug_form")),
    v.title("Slug"),
    v.description("Part of the callback URL; it cannot be changed later"),
    v.metadata({ immutable: true, code: true, placeholder: "home" }),
  ),
  client_id: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1),
    v.maxLength(512),
    v.regex(/^[\x20-\x7e]+$/, issue("oidc.printable_ascii")),
    v.title("Client ID"),
    v.description("Issued by the identity provider"),
    v.metadata({ code: true }),
  ),
  client_secret: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(4096),
    v.regex(/^[\x20-\x7e]+$/, issue("oidc.printable_ascii")),
    v.title("Client secret"),
    v.description("Issued by the identity provider"),
    v.metadata({ secret: true }),
  ),
  is_discovery_enabled: v.optional(
    v.pipe(
      v.boolean(),
      v.title("Enable OIDC discovery"),
      v.description("Recommended: the endpoints are read from the issuer"),
    ),
    true,
  ),
  issuer_url: v.pipe(
    address(
      "Issuer URL",
      "Exactly as it appears in the provider's tokens, including any trailing slash",
      "https://id.example.org",
    ),
    v.check((text) => !text.includes("?"), issue("oidc.issuer_with_query")),
  ),
  authorization_url: endpoint(
    "Authorization URL",
    "Where the browser is sent to sign in",
    "https://id.example.org/authorize",
    true,
  ),
  token_url: endpoint(
    "Token URL",
    "Where the authorization code is exchanged for tokens",
    "https://id.example.org/token",
    true,
  ),
  jwks_url: endpoint(
    "JWKS URL",
    "Where the provider publishes its token signing keys",
    "https://id.example.org/jwks",
    true,
  ),
  userinfo_url: endpoint(
    "Userinfo URL",
    "For your reference; Tidemark does not use it",
    "https://id.example.org/userinfo",
    false,
  ),
  scopes: v.optional(
    v.pipe(
      v.string(),
      v.transform((text) => [...new Set(text.split(/\s+/).filter((scope) => scope !== ""))].join(" ")),
      v.maxLength(500),
      v.regex(scopesPattern, issue("oidc.scopes_form")),
      v.check((text) => text.split(" ").includes("openid"), issue("oidc.scopes_without_openid")),
      v.title("Scopes"),
      v.metadata({ code: true, advanced: true }),
    ),
    "openid email profile",
  ),
  icon_url: v.optional(
    v.nullable(
      v.pipe(
        address("Icon URL", "The icon of the button; blank means initials", "https://id.example.org/icon.svg"),
        v.check((text) => text.startsWith("https://"), issue("oidc.icon_not_https")),
      ),
    ),
    null,
  ),
  description: Description,
  is_enabled: v.optional(
    v.pipe(
      v.boolean(),
      v.title("Enable this provider"),
      v.description("If off, the provider does not appear on the sign-in page and cannot be used to sign in"),
    ),
    true,
  ),
};

export const requiredEndpoints = ["authorization_url", "token_url", "jwks_url"] as const;
/** Entered and stored only without discovery. */
export const endpoints = [...requiredEndpoints, "userinfo_url"] as const;

/**
 * Provider settings; with discovery on, entered endpoints are dropped. The service requires https, because tests may allow loopback http.
 */
export const ProviderInput = v.strictObject(entries);
export type ProviderInput = v.InferOutput<typeof ProviderInput>;

/** Every field but the slug. A field left out keeps its value, and so does a blank client secret. */
export const ProviderPatch = v.strictObject({
  display_name: v.optional(entries.display_name),
  client_id: v.optional(entries.client_id),
  client_secret: v.optional(v.union([v.literal(""), entries.client_secret])),
  is_discovery_enabled: v.optional(entries.is_discovery_enabled.wrapped),
  issuer_url: v.optional(entries.issuer_url),
  authorization_url: v.optional(entries.authorization_url.wrapped),
  token_url: v.optional(entries.token_url.wrapped),
  jwks_url: v.optional(entries.jwks_url.wrapped),
  userinfo_url: v.optional(entries.userinfo_url.wrapped),
  scopes: v.optional(entries.scopes.wrapped),
  icon_url: v.optional(entries.icon_url.wrapped),
  description: v.optional(Description.wrapped),
  is_enabled: v.optional(entries.is_enabled.wrapped),
});
export type ProviderPatch = v.InferOutput<typeof ProviderPatch>;

export const ProviderView = v.object({
  id: v.string(),
  slug: v.string(),
  display_name: v.string(),
  client_id: v.string(),
  has_client_secret: v.boolean(),
  /** Why its client secret cannot be read. It stays as it is until another is entered. */
  problem: v.nullable(ProblemSchema),
  is_discovery_enabled: v.boolean(),
  issuer_url: v.string(),
  authorization_url: v.nullable(v.string()),
  token_url: v.nullable(v.string()),
  jwks_url: v.nullable(v.string()),
  userinfo_url: v.nullable(v.string()),
  scopes: v.string(),
  icon_url: v.nullable(v.string()),
  description: v.string(),
  is_enabled: v.boolean(),
  /** It holds the administrator's binding; until that is removed, it can only be disabled and enabled. */
  is_bound: v.boolean(),
  /** For registration at the provider; null until the base URL is set. */
  callback_url: v.nullable(v.string()),
  created_at: Instant,
  updated_at: Instant,
});
export type ProviderView = v.InferOutput<typeof ProviderView>;

/** The administrator's only binding; all null while there is none. */
export const BindingView = v.object({
  is_bound: v.boolean(),
  provider: v.nullable(
    v.object({ id: v.string(), slug: v.string(), display_name: v.string(), is_enabled: v.boolean() }),
  ),
  issuer: v.nullable(v.string()),
  subject: v.nullable(v.string()),
  bound_at: NullableInstant,
});
export type BindingView = v.InferOutput<typeof BindingView>;

/** What binding and unbinding require. */
export const PasswordConfirmation = v.strictObject({
  current_password: CurrentPassword,
});

export const BindingStartView = v.object({
  authorization_url: v.pipe(v.string(), v.description("Open it in the browser with this session within 10 minutes")),
});
export type BindingStartView = v.InferOutput<typeof BindingStartView>;

/** The button of the sign-in page. */
export interface LoginProvider {
  slug: string;
  display_name: string;
  icon_url: string | null;
}
