import type { ApiTokenService } from "../../auth/api-tokens.ts";
import { ApiTokenInput, ApiTokenView, CreatedApiTokenView } from "../../auth/schema.ts";
import { PageQuery } from "../../forms/page.ts";
import { requireSession } from "../current-session.ts";
import { pageOf } from "../openapi.ts";
import type { Route } from "./route.ts";

export function apiTokenRoutes(services: { api_tokens: ApiTokenService }): readonly Route[] {
  const { api_tokens } = services;
  const tag = "api-tokens";
  return [
    {
      method: "GET",
      path: "/api-tokens",
      operation_id: "list_api_tokens",
      summary: "List the tokens that can still be used, without their text",
      tag,
      access: "read",
      query: PageQuery,
      answer: { status: 200, description: "A page of API tokens", schema: pageOf(ApiTokenView) },
      perform: ({ query }) => api_tokens.list(query),
    },
    {
      method: "POST",
      path: "/api-tokens",
      operation_id: "create_api_token",
      summary: "Make a token for automation; its text is in this answer alone. Asks for the current password",
      tag,
      access: "full",
      body: ApiTokenInput,
      answer: { status: 201, description: "The token", schema: CreatedApiTokenView },
      refusals: { 429: "Too many failed attempts; `Retry-After` says when" },
      idempotent: { events: ["api_token_created"], again: null },
      perform: ({ context, body }) => api_tokens.create(context.get("actor"), requireSession(context), body),
    },
    {
      method: "DELETE",
      path: "/api-tokens/{id}",
      operation_id: "revoke_api_token",
      summary: "Revoke a token at once",
      tag,
      access: "full",
      answer: { status: 204, description: "Revoked", schema: null },
      perform: ({ context, param }) => api_tokens.revoke(context.get("actor"), requireSession(context), param("id")),
    },
  ];
}
