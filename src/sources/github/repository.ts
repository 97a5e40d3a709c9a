import { say } from "../../messages/message.ts";
import { AddressError } from "../address-fields.ts";
import { type PlaceForm, parsePlace, readOwnerAndName } from "../forge/place.ts";

/** A repository of one GitHub. */
export interface Repository {
  /** `owner/name` */
  path: string;
  /** Origin of the instance; blank is github.com. */
  instance_url: string;
}

const publicInstance = "https://github.com";
const form: PlaceForm = {
  field: "repository",
  example: "https://github.example.com",
  api_path: /^\/api\/(?:v3|graphql)$/,
  public_instance: publicInstance,
  readPath: readOwnerAndName,
};

/** github.com by any of its names, with or without a scheme. */
function withPublicName(text: string): string {
  return text.trim().replace(/^(?:https?:\/\/)?(?:www\.|api\.)?github\.com(?=\/|$)/i, publicInstance);
}

/**
 * The repository that the two fields of a source mean.
 * @throws AddressError with the field to change and what would be right.
 */
export function parseRepository(repository: string, instanceUrl: string): Repository {
  const { instance, path } = parsePlace(withPublicName(repository), withPublicName(instanceUrl), form);
  const { origin } = new URL(instance);
  if (instance !== origin) {
    const typed = instanceUrl.trim().slice(0, 200);
    throw new AddressError("instance_url", say("addresses.instance_alone", { typed, origin }));
  }
  return { path, instance_url: instance === publicInstance ? "" : instance };
}
