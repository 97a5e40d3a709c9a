import { CredentialInput, CredentialPatch, CredentialView, credentialList } from "../../credentials/schema.ts";
import { listQuery } from "../../forms/page.ts";
import type { Services } from "../../services.ts";
import { resourceRoutes } from "./resource.ts";
import type { Route } from "./route.ts";

export function credentialRoutes({ credentials }: Pick<Services, "credentials">): readonly Route[] {
  return resourceRoutes({
    path: "/credentials",
    tag: "credentials",
    name: "credential",
    service: credentials,
    view: CredentialView,
    list: {
      summary: "List credentials by name, without their secrets",
      query: listQuery(credentialList),
    },
    create: { summary: "Add a credential, stored encrypted", body: CredentialInput, event: "credential_created" },
    get: { summary: "Get a credential, without its secret" },
    update: { summary: "Change a credential; omitted fields are unchanged", body: CredentialPatch },
    remove: { summary: "Delete a credential that nothing uses" },
  });
}
