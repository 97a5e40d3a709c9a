import * as v from "valibot";
import { CredentialInput, CredentialPatch, CredentialView, credentialKinds } from "../../credentials/schema.ts";
import type { CredentialService } from "../../credentials/service.ts";
import { PageQuery } from "../../forms/page.ts";
import { pageOf } from "../openapi.ts";
import type { Route } from "./route.ts";

export function credentialRoutes(services: { credentials: CredentialService }): readonly Route[] {
  const { credentials } = services;
  const tag = "credentials";
  return [
    {
      method: "GET",
      path: "/credentials",
      operation_id: "list_credentials",
      summary: "List credentials by name, without their secrets",
      tag,
      access: "read",
      query: v.object({ ...PageQuery.entries, kind: v.optional(v.picklist(credentialKinds)) }),
      answer: { status: 200, description: "A page of credentials", schema: pageOf(CredentialView) },
      perform: ({ query }) => credentials.list(query),
    },
    {
      method: "POST",
      path: "/credentials",
      operation_id: "create_credential",
      summary: "Store a credential, encrypted",
      tag,
      access: "full",
      body: CredentialInput,
      answer: { status: 201, description: "The credential", schema: CredentialView },
      idempotent: { events: ["credential_created"], again: ({ id }) => credentials.get(id) },
      perform: ({ context, body }) => credentials.create(context.get("actor"), body),
    },
    {
      method: "GET",
      path: "/credentials/{id}",
      operation_id: "get_credential",
      summary: "Read a credential, without its secret",
      tag,
      access: "read",
      answer: { status: 200, description: "The credential", schema: CredentialView },
      perform: ({ param }) => credentials.get(param("id")),
    },
    {
      method: "PATCH",
      path: "/credentials/{id}",
      operation_id: "update_credential",
      summary: "Change a credential; what is left out stays",
      tag,
      access: "full",
      body: CredentialPatch,
      answer: { status: 200, description: "The credential", schema: CredentialView },
      perform: ({ context, param, body }) => credentials.update(context.get("actor"), param("id"), body),
    },
    {
      method: "DELETE",
      path: "/credentials/{id}",
      operation_id: "delete_credential",
      summary: "Delete a credential that nothing uses",
      tag,
      access: "full",
      answer: { status: 204, description: "Deleted", schema: null },
      perform: ({ context, param }) => credentials.remove(context.get("actor"), param("id")),
    },
  ];
}
