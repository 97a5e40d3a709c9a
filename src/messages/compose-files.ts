import { quotedList } from "./lists.ts";
import type { Area } from "./types.ts";

type Service = { service: string };
type Places = { places: readonly string[]; more: number };

/** Why images in a compose file cannot be read or edited. */
export const composeFiles = {
  too_large: ({ limit }: { limit: number }) => `The compose file has more than ${limit} characters`,
  too_complex: "The compose file is nested too deeply, or its aliases and variables expand to too much",
  line_ends: "The compose file contains line ends other than LF and CRLF; replace them first",
  not_utf8: ({ line }: { line: number }) =>
    `The compose file contains characters that are not UTF-8 (line ${line}), which would be lost: save it as UTF-8 first`,
  not_yaml: ({ line }: { line: number }) => `The compose file cannot be parsed as YAML: check line ${line}`,
  duplicate_key: ({ key, line }: { key: string; line: number }) =>
    `The compose file repeats the key "${key}" on line ${line}; compose refuses such files`,
  several_documents: "The compose file contains several YAML documents; only files with one can be edited",
  no_services: "The compose file has no services",

  service_not_found: ({ service }: Service) => `The compose file has no service "${service}"`,
  service_elsewhere: ({ service, files }: Service & { files: readonly string[] }) =>
    `The service "${service}" is not in this compose file, which refers to ${quotedList(files)}; edit it there`,
  in_other_file: ({ service, file }: Service & { file: string }) =>
    `The service "${service}" takes its image from "${file}"; edit it there`,
  extends_too_far: ({ service }: Service) => `The service "${service}" extends itself, or too long a chain of services`,
  no_image: ({ service }: Service) => `The service "${service}" has no image`,
  built: ({ service }: Service) => `The image of the service "${service}" is built from source (\`build\`)`,
  tagged: ({ service }: Service) =>
    `The image of the service "${service}" depends on a YAML tag such as \`!reset\`; edit it manually`,
  image_not_text: ({ service }: Service) => `The image of the service "${service}" is not text`,
  image_form: ({ service }: Service) =>
    `The image of the service "${service}" is written in a form that cannot be edited exactly; put it on one line first`,
  bad_template: ({ service }: Service) =>
    `The image of the service "${service}" contains a variable that compose cannot parse`,
  variable_required: ({ service, names }: Service & { names: readonly string[] }) =>
    `The image of the service "${service}" requires a variable that has no value (${names.join(", ")})`,
  variable_not_set: ({ service, name }: Service & { name: string }) =>
    `The image of the service "${service}" uses the variable ${name}, which has no value; set it first`,
  reference_not_plain: ({ service, reference }: Service & { reference: string }) =>
    `"${reference}" cannot be written as the image of the service "${service}"`,
  no_single_edit: ({ service, reference }: Service & { reference: string }) =>
    `It is not clear which variable or text of the service "${service}" to change for "${reference}"; edit the image manually`,

  conflict_in_line: ({ services, line }: { services: readonly string[]; line: number }) =>
    `${quotedList(services)} take their images from line ${line} but need different ones; give each an image of its own`,
  conflict_in_variable: ({ services, name }: { services: readonly string[]; name: string }) =>
    `${quotedList(services)} take their images from the variable ${name} but need different ones; give each a variable of its own`,
  shared_line: ({ services, line, places, more }: Places & { services: readonly string[]; line: number }) =>
    `Changing the image of ${quotedList(services)} on line ${line} would also change ${quotedList(places)}${more > 0 ? ` and ${more} more` : ""}`,
  shared_variables: ({ names, places, more }: Places & { names: readonly string[] }) =>
    `Changing the value of ${names.join(", ")} would also change ${quotedList(places)}${more > 0 ? ` and ${more} more` : ""}`,
  variables_elsewhere: ({ names, files }: { names: readonly string[]; files: readonly string[] }) =>
    `${quotedList(files)} may use ${names.join(", ")} too, and Tidemark cannot see these files`,
  edit_not_proved: "The edited compose file would not read as intended; edit the images manually",
} satisfies Area;
