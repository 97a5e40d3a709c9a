import { listAt, objectAt, type RawObject, stringAt, stringMapAt, stringsAt } from "../raw.ts";
import type { Concealer, Word } from "./conceal.ts";
import type { OwnSettings } from "./member.ts";
import { podmanMounts } from "./podman-options.ts";

type Field = readonly [key: string, value: Word];

/** A container's mounts as CLI options. */
export function mountOptions(settings: OwnSettings, conceal: Concealer): readonly Word[] {
  const { host, engine } = settings;
  const tmpfs = Object.entries(stringMapAt(host.Tmpfs)).map(
    ([path, options]): Word => [`--tmpfs=${options === "" ? path : `${path}:${options}`}`],
  );
  return [
    // Engines accept a trailing colon without options, clients do not.
    ...stringsAt(host.Binds).map((bind): Word => [`--volume=${bind.replace(/:$/, "")}`]),
    ...settings.volumes.filter((path) => path !== "").map((path): Word => [`--volume=${path}`]),
    ...(engine === "podman"
      ? podmanMounts(host)
      : listAt(host.Mounts)
          .map(objectAt)
          .map((mount) => mountOption(settings, mount, conceal))),
    ...tmpfs,
  ];
}

function mountOption(settings: OwnSettings, mount: RawObject, conceal: Concealer): Word {
  const bind = objectAt(mount.BindOptions);
  const [source, target] = [stringAt(mount.Source), stringAt(mount.Target)];
  // `--mount` cannot create the folder on the host; `--volume` does.
  if (mount.Type === "bind" && bind.CreateMountpoint === true) {
    const options = [...(mount.ReadOnly === true ? ["ro"] : []), ...stringList(bind.Propagation)];
    return [`--volume=${[source, target, ...(options.length === 0 ? [] : [options.join(",")])].join(":")}`];
  }
  const fields: Field[] = [["type", [stringAt(mount.Type)]]];
  if (source !== "") fields.push(["source", [source]]);
  fields.push(["target", [target]]);
  if (mount.ReadOnly === true) fields.push(["readonly", ["true"]]);
  const consistency = stringAt(mount.Consistency);
  if (consistency !== "" && consistency !== "default") fields.push(["consistency", [consistency]]);
  return [
    "--mount=",
    ...csv([...fields, ...bindFields(bind), ...volumeFields(settings, mount, conceal), ...tmpfsFields(mount)]),
  ];
}

function stringList(value: unknown): readonly string[] {
  return stringAt(value) === "" ? [] : [stringAt(value)];
}

function bindFields(bind: RawObject): readonly Field[] {
  return [
    ...stringList(bind.Propagation).map((each): Field => ["bind-propagation", [each]]),
    ...(bind.NonRecursive === true ? [["bind-recursive", ["disabled"]] as const] : []),
    ...(bind.ReadOnlyNonRecursive === true ? [["bind-recursive", ["writable"]] as const] : []),
    ...(bind.ReadOnlyForceRecursive === true ? [["bind-recursive", ["readonly"]] as const] : []),
  ];
}

function volumeFields(settings: OwnSettings, mount: RawObject, conceal: Concealer): readonly Field[] {
  const volume = objectAt(mount.VolumeOptions);
  const driver = objectAt(volume.DriverConfig);
  return [
    ...(volume.NoCopy === true ? [["volume-nocopy", ["true"]] as const] : []),
    ...stringList(volume.Subpath).map((each): Field => ["volume-subpath", [each]]),
    ...stringList(objectAt(mount.ImageOptions).Subpath).map((each): Field => ["image-subpath", [each]]),
    ...Object.entries(stringMapAt(volume.Labels)).map(
      ([key, value]): Field => ["volume-label", [`${key}=`, ...conceal.named(settings, "label", key, value)]],
    ),
    ...stringList(driver.Name).map((each): Field => ["volume-driver", [each]]),
    ...Object.entries(stringMapAt(driver.Options)).map(
      ([key, value]): Field => ["volume-opt", [`${key}=`, ...conceal.named(settings, "option", key, value)]],
    ),
  ];
}

function tmpfsFields(mount: RawObject): readonly Field[] {
  const { SizeBytes: size, Mode: mode } = objectAt(mount.TmpfsOptions);
  return [
    ...(typeof size === "number" && size > 0 ? [["tmpfs-size", [String(size)]] as const] : []),
    ...(typeof mode === "number" && mode > 0 ? [["tmpfs-mode", [mode.toString(8)]] as const] : []),
  ];
}

/** Fields in the CLI's CSV; a value from the environment is quoted in any case. */
export function csv(fields: readonly Field[]): Word {
  return fields.flatMap(([key, value], index): Word => {
    const comma = index === 0 ? "" : ",";
    const isPlain = value.every((part) => typeof part === "string" && !/[",\n\r]/.test(part));
    if (isPlain) return [`${comma}${key}=`, ...value];
    const inside = value.map((part) => (typeof part === "string" ? part.replaceAll('"', '""') : part));
    return [`${comma}"${key}=`, ...inside, '"'];
  });
}
