import type { Area, Message } from "./types.ts";

type Named = { name: string };
type Said = { said: string };

/** Words that others wrote, behind what is said of them. */
const quoted = (said: string) => (said === "" ? "" : `: ${said}`);

/** Sources: what one was asked for, and why that failed. */
export const sources = {
  kind_unknown: ({ kind }: { kind: string }) =>
    `This version of Tidemark does not support sources of type "${kind}"; update Tidemark, or delete the source`,
  failed: ({ action, reason }: { action: Message; reason: Message }, tell) =>
    `Could not ${tell(action)}: ${tell(reason)}`,
  config_error: ({ field, cause }: { field: string; cause: Message }, tell) =>
    `The source's configuration has an error in "${field}": ${tell(cause)}`,
  credential_without_token: 'The credential has no usable "token"; enter one under Credentials',
  credential_without_login: 'The credential has no "username" and "password"; enter them under Credentials',
  credential_without_basic_auth:
    'The credential has no "basic_auth" of the form "username:password"; enter it under Credentials',
  graphql_needs_token:
    "GraphQL-first needs a credential, because GitHub accepts GraphQL only with a token; choose a credential or REST-first",
  no_preview: ({ kind }: { kind: string }) =>
    `Sources of type "${kind}" do not list their versions, so there is no preview`,
  described_only: "No request is sent while a source is only described",
  not_tag_or_digest: ({ reference, name }: Named & { reference: string }) =>
    `"${reference}" is neither a tag nor a digest of "${name}"`,

  list_releases: ({ name }: Named) => `list the releases of "${name}"`,
  list_tags: ({ name }: Named) => `list the tags of "${name}"`,
  read_release: ({ tag, name }: Named & { tag: string }) => `read the release "${tag}" of "${name}"`,
  read_name: ({ name }: Named) => `read the name of "${name}"`,
  read_file: ({ path, name }: Named & { path: string }) => `read "${path}" of "${name}"`,
  read_digest: ({ name }: Named) => `read the digest of "${name}"`,
  read_manifest: ({ name }: Named) => `read the manifest of "${name}"`,
  read_image_config: ({ name }: Named) => `read the image config of "${name}"`,
  get_token: ({ name, host }: Named & { host: string }) => `get a token for "${name}" from "${host}"`,
  read_chart_repository: ({ url }: { url: string }) => `read the chart repository "${url}"`,
  read_chart: ({ name }: Named) => `read the chart of "${name}"`,
  download_chart: ({ name }: Named) => `download the chart "${name}"`,
  find_chart: ({ name }: Named) => `find the chart "${name}"`,

  answered: ({ status, said }: Said & { status: number }) => `the response was ${status}${quoted(said)}`,
  answered_with_page: ({ status }: { status: number }) => `the response was ${status} with a web page`,
  answered_by_no_registry: ({ status }: { status: number }) =>
    `the response was ${status} with a web page, so the address may not be a registry`,
  answered_without_credential: ({ status, said }: Said & { status: number }) =>
    `the response was ${status}, and the source has no credential${quoted(said)}`,
  private_or_missing:
    "the repository is private or does not exist; add a credential that can read it, or check the name",
  credential_rejected: "the credential is wrong, was revoked or has expired; replace it under Credentials",
  github_unreadable:
    'the repository does not exist, or the credential cannot read it; a fine-grained token must include this repository with "Contents: Read-only", a classic token needs the scope "repo"',
  gitlab_unreadable:
    'the project does not exist, or the credential cannot read it; the token needs the scope "read_api", and its user must be a member of the project',
  gitea_unreadable:
    'the repository does not exist, or the credential cannot read it; the token needs the scope "read:repository", and its user access to the repository',
  registry_unreadable:
    "the repository does not exist, or the credential cannot pull from it; check the name and the credential's permissions",
  hub_unreadable:
    'the repository does not exist, or the credential cannot pull from it; an access token needs at least the permission "Read-only"',
  ghcr_unreadable:
    'the package does not exist, or the credential cannot pull it; the password must be a classic token with the scope "read:packages"',
  chart_repository_hidden:
    "the chart repository is private or its address is wrong; add a credential that can read it, or check the address",
  chart_repository_unreadable: "the address is wrong, or the credential cannot read the chart repository; check both",
  releases_closed: "its releases are disabled or limited to members",
  repository_closed: "its repository is limited to members",
  releases_without_tags: "its releases come without their tags, so the credential probably cannot read the repository",
  gitlab_sign_in: "GitLab asks to sign in; store a token as a credential",

  page_of_no_forge: "the response is a web page; check that the address is that of the instance",
  page_of_no_registry: "the response is a web page; the address may not be a registry",
  answer_empty: "the response is empty",
  answer_is_error: ({ said }: Said) => `the response is an error: ${said}`,
  json_incomplete: "the response is not complete JSON",
  unexpected_form: ({ path, cause }: { path: string | null; cause: Message }, tell) =>
    `the response has an unexpected form${path === null ? "" : ` at ${path}`}: ${tell(cause)}`,
  no_sha_digest: "this is not a sha256 or sha512 digest",
  neither_name_nor_tags: 'it has neither "name" nor "tags"',
  neither_repository_nor_error: "the response has neither a repository nor an error",
  github_error: ({ said }: Said) => `GitHub returned an error${quoted(said)}`,
  digest_mismatch: ({ digest, wanted }: { digest: string; wanted: string }) =>
    `its digest is "${digest}", and "${wanted}" was expected`,

  git_error: ({ said }: Said) => `git returned an error${quoted(said)}`,
  git_malformed: ({ cause }: { cause: Message }, tell) => `the response does not follow git's protocol: ${tell(cause)}`,
  git_packet_length: ({ text }: { text: string }) => `"${text}" is not the length of a packet`,
  git_packet_cut: "it ends within a packet",
  git_object: ({ text }: { text: string }) => `"${text}" is not the ID of an object`,
  git_reference: ({ text }: { text: string }) => `"${text}" is not a reference`,
  git_early_end: "it ends too early",
  too_many: ({ limit }: { limit: number }) => `there are more than ${limit}`,

  no_file_path: "it is not the path of a file",
  folder: "it is a folder",
  file_too_long: ({ characters, limit }: { characters: number; limit: number }) =>
    `it has ${characters} characters; at most ${limit} are read`,

  redirect_invalid: "it redirects to something that is not a URL",
  redirect_elsewhere: ({ host, to }: { host: string; to: string }) =>
    `"${host}" redirects to "${to}"; enter the address that the repository has there`,
  redirect_beside_api: ({ path }: { path: string }) => `it redirects to "${path}", which is not part of the API`,
  next_page_invalid: ({ link }: { link: string }) => `the link to the next page, "${link}", is not a URL`,
  next_page_elsewhere: ({ link, origin }: { link: string; origin: string }) =>
    `the next page "${link}" is not on "${origin}"`,
  next_page_with_user: ({ link }: { link: string }) =>
    `the link to the next page, "${link}", has a user name or password`,
  pages_in_circle: ({ page }: { page: number }) => `its pages repeat after page ${page}`,
  too_many_tags: ({ count, pages, characters }: { count: number; pages: number; characters: number }) =>
    `there are more than ${count}; at most ${pages} pages and ${characters} characters are read`,
  names_too_long: ({ characters, limit }: { characters: number; limit: number }) =>
    `the names have ${characters} characters in all; at most ${limit} are read`,

  sign_in_unexplained: "the registry returned 401 without sign-in instructions",
  sign_in_wanted: "the registry requires a user name and password, and the source has no credential",
  sign_in_unsupported: ({ offered }: { offered: readonly string[] }) =>
    `the registry offers only the sign-in "${offered.join(", ")}"; Bearer and Basic are supported`,
  token_unusable: "the response has no usable token",
  credential_withheld: ({ cause }: { cause: Message }, tell) => `the credential is not sent there: ${tell(cause)}`,
  realm_with_user: "the address has a user name",
  realm_scheme: ({ scheme }: { scheme: string }) => `the address has the scheme "${scheme}"; "https:" is required`,
  realm_plain: "the address uses plain http; https is required",
  realm_on_another_host: "the address uses plain http and is on another host than the registry",
} satisfies Area;
