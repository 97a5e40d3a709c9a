import { ApiTokenInput, ApiTokenView, apiTokenList, CreatedApiTokenView } from "../../auth/schema.ts";
import { listQuery } from "../../forms/page.ts";
import type { Services } from "../../services.ts";
import { requireSession } from "../current-session.ts";
import { pageOf } from "../openapi.ts";
import { type Route, routesOf } from "./route.ts";

export function apiTokenRoutes({ api_tokens }: Pick<Services, "api_tokens">): readonly Route[] {
  const route = routesOf("api-tokens");
  return [
    route("GET", "/api-tokens", {
      operation_id: "list_api_tokens",
      summary: "List the tokens that are still valid, without their text",
      query: listQuery(apiTokenList),
      answer: { status: 200, description: "A page of API tokens", schema: pageOf(ApiTokenView) },
      perform: ({ query }) => api_tokens.list(query),
    }),
    route("POST", "/api-tokens", {
      operation_id: "create_api_token",
      summary: "Add a token for automation; its text is returned only once. Requires the current password",
      body: ApiTokenInput,
      answer: { status: 201, description: "The token", schema: CreatedApiTokenView },
      refusals: { 429: "Too many failed attempts; `Retry-After` says when" },
      idempotent: { events: ["api_token_created"], again: null },
      perform: ({ context, body }) => api_tokens.create(context.get("actor"), requireSession(context), body),
    }),
    route("DELETE", "/api-tokens/{id}", {
      operation_id: "revoke_api_token",
      summary: "Revoke a token immediately",
      answer: { status: 204, description: "Revoked", schema: null },
      perform: ({ context, param }) => api_tokens.revoke(context.get("actor"), requireSession(context), param("id")),
    }),
  ];
}
