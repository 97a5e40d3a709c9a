import { quotedList } from "./lists.ts";
import type { Area, Message } from "./types.ts";

interface Stage {
  state: "waiting" | "running" | "done" | "failed";
}

interface Caused {
  cause: Message;
}

/** "2 lines"; "" for none. */
const counted = (count: number, noun: string) => (count === 0 ? "" : `${count} ${noun}${count === 1 ? "" : "s"}`);

/** What Portainer is asked to do, and what it reports. */
export const portainer = {
  stack: "Stack",
  saved_files: "Saved stack files",
  address_wanted: "Enter the address of Portainer as https://host:port, without the # and anything after it",
  ca_wanted: "Paste the certificate in PEM form, from BEGIN CERTIFICATE to END CERTIFICATE",
  plain_http: "The API key is sent without encryption: use the https address of Portainer",
  credential_missing: "Select a credential with an API key of Portainer",
  key_with_spaces: "The API key contains spaces or line breaks: paste it as a single line",

  unauthenticated:
    "Portainer does not accept the API key: it was removed, its user was disabled, or it belongs to another Portainer",
  redirected: ({ status }: { status: number }) =>
    `Portainer redirects to another address (${status}), which Tidemark does not follow with an API key. Enter the address that Portainer itself listens on`,
  refused: ({ status, said }: { status: number; said: Message }, tell) =>
    `Portainer responded with ${status}: ${tell(said)}`,
  not_portainer: ({ status }: { status: number }) =>
    `The response (${status}) is not from Portainer's API: check the address, and any proxy in front of it`,
  broken_off: "The connection broke in the middle of Portainer's response",
  odd_id: "The engine lists a container with an invalid ID",
  environment_missing: ({ endpoint, known }: { endpoint: number; known: readonly string[] }) =>
    `Portainer has no environment ${endpoint}${known.length === 0 ? ", and the API key may use none" : `; the API key may use ${known.join(", ")}`}`,
  not_docker: ({ environment }: { environment: string }) =>
    `The environment "${environment}" is not a Docker engine. Tidemark updates Kubernetes over a connection of its own`,
  stacks_not_editable: ({ environment }: { environment: string }) =>
    `Only administrators may edit stacks of "${environment}": use the API key of an administrator, or allow stack management for regular users`,

  stack_missing: ({ stack }: { stack: string }) => `Portainer has no stack "${stack}" in this environment`,
  service_missing: ({ service, stack }: { service: string; stack: string }) =>
    `The file of the stack "${stack}" has no service "${service}"`,
  swarm: "It is a Swarm stack; Tidemark updates standalone compose stacks",
  kubernetes: "It is a Kubernetes application; add a Kubernetes connection for the cluster to update it",
  unknown_type: ({ type }: { type: number }) =>
    `Its type (${type}) is unknown to this version of Tidemark; update Tidemark`,
  git: "It is deployed from a git repository, and an update here would detach it: change the image in the repository",
  further_files: ({ files }: { files: readonly string[] }) =>
    `It consists of several compose files (${quotedList(files)}), and Portainer shows only the first: the others may decide which images run`,
  stopped: "It is stopped in Portainer, and an update would start it: start it first",
  deploying: "Portainer is deploying it: wait until it is done",
  file_refused: ({ cause }: Caused, tell) => `Its file cannot be used: ${tell(cause)}`,
  own_container: "Tidemark itself runs in this stack, and an update would stop it halfway",
  itself: "Portainer itself runs in this stack, and an update would stop it halfway",
  no_containers: "It has no containers, although Portainer counts it as active",
  not_in_file: ({ services }: { services: readonly string[] }) =>
    `Containers of ${quotedList(services)} are running, but the stack file no longer contains ${services.length === 1 ? "this service" : "these services"}`,

  pulled_too: ({ services }: { services: readonly string[] }) =>
    `Portainer pulls the images of all services. If the tag of ${quotedList(services)} now points to another image, that service is replaced too; a digest in the stack file prevents this`,
  variable_passed: ({ services }: { services: readonly string[] }) =>
    `The changed variable is also passed to the containers of ${quotedList(services)}`,
  same_reference: ({ service, reference }: { service: string; reference: string }) =>
    `"${service}" already uses ${reference}, and the tag now points to another image: if the update fails, the saved stack file cannot bring the previous image back. The reference mode "Digest" can`,
  whole_file: ({ lines, variables }: { lines: number; variables: number }) => {
    const parts = [counted(lines, "line"), counted(variables, "variable")].filter((part) => part !== "");
    return `The whole stack file and environment are restored as saved: ${parts.join(" and ")} ${lines + variables === 1 ? "differs" : "differ"}`;
  },
  edits_file: "Tidemark changes this in the stack file; every other character is unchanged",
  edits_variable: "Tidemark changes this variable of the stack; the others are unchanged",
  nothing_to_save: ({ stack }: { stack: string }) => `The stack "${stack}" has no compose file to save`,
  saved_unreadable: "The saved stack file cannot be read",

  changed_since_plan: "The stack has changed since the plan was made; review the plan again",
  not_sent: "Nothing was sent to Portainer",
  deployed: "Portainer has deployed the new stack file",
  as_before: "The stack is as it was before",
  changed_meanwhile: "The stack was changed outside Tidemark",
  not_deployed: ({ cause }: Caused, tell) => `Portainer did not deploy the new stack file. ${tell(cause)}`,
  deployment_failed: ({ said }: { said: Message }, tell) => {
    const words = tell(said);
    return `Portainer stored the new stack file, but its deployment failed${words === "" ? "" : `: ${words}`}`;
  },
  took_down: ({ cause }: Caused, tell) =>
    `Portainer could not deploy the new stack file, and removed the stack's containers. ${tell(cause)}`,
  not_arrived: ({ cause }: Caused, tell) =>
    `The update was not carried out: Portainer still has the previous stack file, and its containers are running. ${tell(cause)}`,
  unfinished: ({ cause }: Caused, tell) =>
    `Portainer has stored the new stack file but did not finish its deployment. ${tell(cause)}`,
  still_working:
    "Portainer has stored the new stack file but still runs the previous version. It may be working on it: check the stack in Portainer",
  put_back: "The saved stack file and environment are deployed again, and the previous version is running",
  not_put_back: ({ cause }: Caused, tell) =>
    `The saved stack file was sent to Portainer again, but the previous version is not running. ${tell(cause)}`,
  nothing_saved: "There is no saved stack file to return to",
  tag_moved: "The saved stack file is deployed again, but its tag now points to the new image",

  no_container: "There is no container",
  not_replaced: "The container still has the other version",
  all_run: ({ services }: { services: number }) =>
    services === 1 ? "The service is running and ready" : `All ${services} services are running and ready`,
  stalled: ({ seconds, cause }: { seconds: number } & Caused, tell) =>
    `Nothing has changed for ${seconds} s. ${tell(cause)}`,

  step_deploy: ({ state }: Stage) =>
    ({
      waiting: "Deploy the new stack file",
      running: "Deploying the new stack file",
      done: "New stack file deployed",
      failed: "New stack file not deployed",
    })[state],
  step_follow: ({ state }: Stage) =>
    ({
      waiting: "Follow the services",
      running: "Following the services",
      done: "Services run the new version",
      failed: "Services do not run the new version",
    })[state],
  step_undo: ({ state }: Stage) =>
    ({
      waiting: "Deploy the saved stack file",
      running: "Deploying the saved stack file",
      done: "Saved stack file deployed again",
      failed: "Previous version not restored",
    })[state],
} satisfies Area;
