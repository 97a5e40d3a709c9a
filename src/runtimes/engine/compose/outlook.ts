import { saidBy } from "../../../errors.ts";
import { type Message, plain, say } from "../../../messages/message.ts";
import type { FileNotice } from "../../plan.ts";
import { type ContainerInspect, nameOf } from "../objects.ts";
import { type RawObject, stringAt } from "../raw.ts";
import { composeFolders, findComposeCommand } from "./command.ts";
import { editFiles, type FileEdit, type FileEdits, type FileView } from "./file.ts";
import { type HashAnswer, nextHashes } from "./hash.ts";
import { type ComposeContainer, composeLabels, composeOf, isOfPodmanCompose } from "./labels.ts";
import { type ComposeSources, type FoundSources, findSources } from "./sources.ts";

/** A container that a run replaces. */
export interface ComposeMove {
  container: ContainerInspect;
  /** The new one's reference; the current one when only its dependency changes. */
  reference: string;
}

export interface ComposeOutlook {
  container: string;
  /** The edit of its compose file; null when the file is already right. */
  notice: FileNotice | null;
  /** The new container's hash label, with which `docker compose up` of the edited file finds nothing to do; null keeps the old one. */
  config_hash: string | null;
  /** Why the hash is unknown; null when it is known, or when the old one stays right. */
  reason: Message | null;
}

export interface OutlookOptions {
  /**
   * New ids of replaced containers, by their old ones: containers that share their namespaces are hashed with them. An unknown id may be
   * any text; the result then only shows whether the hash can be known.
   */
  moved?: ReadonlyMap<string, string>;
  /** Where compose is searched. */
  folders?: readonly string[];
}

/**
 * What compose will find after a run, for containers of any projects; others are left out. Reads visible compose files and asks a local
 * compose for hashes; changes nothing, and does not throw for odd or missing files.
 */
export async function composeOutlooks(
  moves: readonly ComposeMove[],
  options: OutlookOptions = {},
): Promise<readonly ComposeOutlook[]> {
  const groups = new Map<string, Member[]>();
  for (const move of moves) {
    const compose = composeOf(move.container);
    if (compose === null || compose.is_oneoff) continue;
    const { project, config_files, working_dir, environment_files } = compose;
    const key = JSON.stringify([project, config_files, working_dir, environment_files]);
    groups.set(key, [...(groups.get(key) ?? []), { ...move, compose }]);
  }
  // With shared files, an edit for one of these applies to all of them.
  const prospects = await Promise.all([...groups.values()].map((members) => prospectOf(members, options)));
  const views = prospects.flatMap(({ view }) => (view === null ? [] : [view]));
  const edits = await editFiles(views);
  const outlooks = await Promise.all(
    prospects.map((prospect) => {
      const edited = prospect.view === null ? undefined : edits[views.indexOf(prospect.view)];
      return outlookOf(prospect, edited, options);
    }),
  );
  return outlooks.flat();
}

interface Member extends ComposeMove {
  compose: ComposeContainer;
}

/** Containers made from the same files, with the files to edit. */
interface Prospect {
  members: readonly Member[];
  found: FoundSources | null;
  view: FileView | null;
}

const isSame = (member: Member) => stringAt(member.container.Config.Image) === member.reference;

function isLeft(member: Member, { moved = new Map() }: OutlookOptions): boolean {
  return isSame(member) && !sharesMoved(member.container, moved);
}

async function prospectOf(members: readonly Member[], options: OutlookOptions): Promise<Prospect> {
  const [first] = members;
  const isAllLeft = members.every((member) => isLeft(member, options));
  if (first === undefined || isAllLeft || isOfPodmanCompose(first.container))
    return { members, found: null, view: null };
  const { compose } = first;
  const found = await findSources(compose);
  if (found.sources === null) return { members, found, view: null };
  const wanted = changedServices(members).map(({ compose: { service }, reference }) => ({ service, reference }));
  return { members, found, view: { compose, sources: found.sources, wanted } };
}

function servicesOf(members: readonly Member[]): readonly Member[] {
  return [...new Map(members.map((member) => [member.compose.service, member])).values()];
}

function changedServices(members: readonly Member[]): readonly Member[] {
  return servicesOf(members).filter((member) => !isSame(member));
}

async function outlookOf(
  { members, found }: Prospect,
  edited: FileEdits | undefined,
  options: OutlookOptions,
): Promise<readonly ComposeOutlook[]> {
  if (found === null) {
    return members.map((member) => ({
      ...unchanged(member.container),
      notice: isSame(member) ? null : podmanNotice(member.compose, member),
    }));
  }
  const changed = changedServices(members);
  const edits = new Map((edited?.edits ?? []).map((edit) => [edit.service, edit]));
  const hashes = await hashesOf(servicesOf(members), edits, found.sources, edited?.environment ?? [], options);
  return members.map((member) => {
    const { container, compose: own, reference } = member;
    if (isLeft(member, options)) return unchanged(container);
    const answer = hashes.get(own.service) ?? {
      hash: null,
      reason: found.reason ?? say("compose.not_installed"),
    };
    const edit = edits.get(own.service);
    const notice = isSame(member)
      ? sharingNotice(own, answer)
      : edit === undefined
        ? unreadableNotice(own, reference, found.sources === null ? found : { path: null, reason: plain("") })
        : editNotice(own, stringAt(container.Config.Image), reference, edit, answer, changed);
    return { container: nameOf(container), notice, config_hash: answer.hash, reason: answer.reason };
  });
}

function unchanged(container: ContainerInspect): ComposeOutlook {
  return { container: nameOf(container), notice: null, config_hash: null, reason: null };
}

function sharesMoved({ HostConfig: host }: ContainerInspect, moved: ReadonlyMap<string, string>): boolean {
  const volumes = Array.isArray(host.VolumesFrom) ? host.VolumesFrom : [];
  const shared = [host.NetworkMode, host.IpcMode, host.PidMode, ...volumes].map(stringAt);
  return [...moved.keys()].some((id) => shared.some((each) => each.includes(id)));
}

async function hashesOf(
  services: readonly Member[],
  edits: ReadonlyMap<string, FileEdit>,
  sources: ComposeSources | null,
  environment: ComposeSources["environment"],
  { moved = new Map(), folders }: OutlookOptions,
): Promise<ReadonlyMap<string, HashAnswer>> {
  const [first] = services;
  const command = sources === null ? null : await findComposeCommand(folders ?? composeFolders);
  if (first === undefined || sources === null || command === null) return new Map();
  const isEdited = environment.some(({ text }, index) => text !== sources.environment[index]?.text);
  const questions = services.map(({ container, compose, reference }) => {
    const from = stringAt(container.Config.Image);
    const edit = edits.get(compose.service);
    const image = from === reference ? null : { from, to: reference, is_written: edit?.patch === "" };
    return { service: compose.service, container, present_hash: compose.config_hash, image };
  });
  const asked = { command, compose: first.compose, environment: isEdited ? environment : null, moved };
  try {
    return await nextHashes(asked, questions);
  } catch (error) {
    // No temporary folder or no memory for a process: the hash is a convenience, and the update continues without it.
    const answer = { hash: null, reason: say("compose.not_run", { cause: saidBy(error) }) };
    return new Map(questions.map(({ service }) => [service, answer]));
  }
}

function editNotice(
  { service }: ComposeContainer,
  from: string,
  to: string,
  edit: FileEdit,
  answer: HashAnswer,
  changed: readonly Member[],
): FileNotice | null {
  if (edit.patch === "" && answer.hash !== null) return null;
  const others = edit.also.filter((name) => !changed.some((member) => member.compose.service === name));
  const items = [
    presentImage(edit, from, to),
    answer.reason === null
      ? say("compose.then_nothing")
      : say("compose.then_recreated", { image: to, cause: answer.reason }),
    ...(edit.reason === null ? [] : [say("compose.edit_manually", { cause: edit.reason })]),
    ...(edit.same_as === null ? [] : [say("compose.same_edit", { service: edit.same_as })]),
    ...(others.length === 0 ? [] : [say("compose.also_changes", { services: others })]),
  ];
  return {
    service,
    path: edit.path === "" ? null : edit.path,
    // Only once: whoever applies all patches applies each.
    patch: edit.same_as !== null ? "" : edit.patch || edit.line,
    is_readable: true,
    message: say("phrases.joined", { items }),
  };
}

function presentImage(edit: FileEdit, from: string, to: string): Message {
  if (edit.patch === "") return say("compose.names_already", { image: to });
  if (edit.present === null || edit.present === from) {
    return say("compose.reverts", { image: from });
  }
  return say("compose.moves", { image: edit.present, running: from });
}

function unreadableNotice(
  { service }: ComposeContainer,
  to: string,
  found: { path: string | null; reason: Message },
): FileNotice {
  return {
    service,
    path: found.path,
    patch: `image: ${to}`,
    is_readable: false,
    message: say("compose.unreadable", { service, cause: found.reason }),
  };
}

function podmanNotice({ config_files, working_dir }: ComposeContainer, { compose, reference }: Member): FileNotice {
  const [path] = config_files;
  return {
    service: compose.service,
    // Paths are relative to the project's folder.
    path: path === undefined ? null : path.startsWith("/") ? path : `${working_dir ?? ""}/${path}`,
    patch: `image: ${reference}`,
    is_readable: false,
    message: say("compose.podman", { service: compose.service }),
  };
}

/** The file is right, but compose recreates such a container because it hashes the id of the one it shares with. */
function sharingNotice({ service, config_files }: ComposeContainer, answer: HashAnswer): FileNotice | null {
  if (answer.hash !== null) return null;
  return {
    service,
    path: config_files[0] ?? null,
    patch: "",
    is_readable: false,
    message: say("compose.shares", { cause: answer.reason }),
  };
}

/** The label for a new container; none when the old hash stays. */
export function configHashLabels(outlook: ComposeOutlook | undefined): RawObject {
  const hash = outlook?.config_hash ?? null;
  return hash === null ? {} : { [composeLabels.config_hash]: hash };
}
