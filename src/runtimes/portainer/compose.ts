import { editImages, type ImageEdit } from "../../compose-file/edit-images.ts";
import { readComposeFile } from "../../compose-file/read-compose-file.ts";
import { settingValues } from "../../compose-file/setting-values.ts";
import { type Message, say } from "../../messages/message.ts";
import type { FileNotice, ImageChange } from "../plan.ts";
import type { Refusal } from "../target.ts";
import type { StackContent } from "./client.ts";

/** What a stack's file says. */
export interface Configured {
  services: readonly { service: string; image: string | null }[];
  /** Why the file cannot be read; null if it can. */
  refusal: Message | null;
}

export async function readStackFile({ file, env }: StackContent): Promise<Configured> {
  const { services, refusal } = await readComposeFile(file, env);
  if (services === null) return { services: [], refusal };
  return { services: services.map(({ name, image }) => ({ service: name, image })), refusal: null };
}

/** What a response about the stack must not quote: values from the file or the environment, unless they are part of an image's name. */
export async function secretsOf({ file, env }: StackContent): Promise<readonly string[]> {
  const { services } = await readComposeFile(file, env);
  const images = services?.flatMap(({ image }) => image ?? []) ?? [];
  const values = [...env.map(({ value }) => value), ...(await settingValues(file, env))];
  return values.filter((value) => !images.some((image) => image.includes(value)));
}

export interface EditedStack {
  /** As it was, if the edit is refused. */
  content: StackContent;
  notices: readonly FileNotice[];
  refusals: readonly Refusal[];
  warnings: readonly Refusal[];
}

/** Changes the images of services and no other byte of the file, and no other variable. */
export async function editStackFile(
  content: StackContent,
  name: string,
  changes: readonly ImageChange[],
): Promise<EditedStack> {
  const wanted = changes.map(({ service, reference }) => ({ service, reference }));
  const { edited, refusals } = await editImages(content.file, content.env, wanted);
  if (edited === null) {
    return {
      content,
      notices: [],
      refusals: refusals.map((message) => ({ code: "not_editable", message })),
      warnings: [],
    };
  }
  const passed = edited.edits.flatMap((edit) => (edit.kind === "variable" ? edit.passed_to : []));
  const services = [...new Set(passed)];
  const warning = { code: "variable_passed", message: say("portainer.variable_passed", { services }) };
  return {
    content: { file: edited.text, env: edited.env },
    notices: edited.edits.flatMap((edit) => noticesOf(content.file, name, edit)),
    refusals: [],
    warnings: services.length === 0 ? [] : [warning],
  };
}

function noticesOf(text: string, name: string, edit: ImageEdit): readonly FileNotice[] {
  const path = edit.kind === "file" ? name : "stack.env";
  const patch = edit.kind === "file" ? linePatch(text, name, edit) : variablePatch(edit);
  const message = say(edit.kind === "file" ? "portainer.edits_file" : "portainer.edits_variable");
  return edit.services.map((service, index) => ({
    ...{ service, path, is_readable: true, message },
    // Services that share a line share its edit.
    patch: index === 0 ? patch : "",
  }));
}

/** A key and its one value, so that the line holds nothing else, such as a password in a mapping on one line. */
const plainLine = /^\s*(?:"?[\w.-]+"?\s*:\s*)?(?:&\S+\s+)?(["']?)[^\s"'{}[\],]+\1\s*$/;

function linePatch(text: string, name: string, edit: Extract<ImageEdit, { kind: "file" }>): string {
  const start = text.lastIndexOf("\n", edit.start - 1) + 1;
  const next = text.indexOf("\n", edit.end);
  const before = text.slice(start, next < 0 ? text.length : next).replace(/\r$/, "");
  const code = before.replace(/\s+#.*$/, "");
  const isPlain = plainLine.test(code);
  const line = isPlain ? code : `…${edit.from}…`;
  const at = isPlain ? edit.start - start : 1;
  const after = line.slice(0, at) + edit.to + line.slice(at + edit.from.length);
  return `--- ${name}\n+++ ${name}\n@@ -${edit.line} +${edit.line} @@\n-${line}\n+${after}\n`;
}

function variablePatch({ name, from, to }: Extract<ImageEdit, { kind: "variable" }>): string {
  return `--- stack.env\n+++ stack.env\n-${name}=${from}\n+${name}=${to}\n`;
}
