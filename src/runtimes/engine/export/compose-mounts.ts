import { listAt, objectAt, type RawObject, stringAt, stringMapAt, stringsAt } from "../raw.ts";
import type { ServiceNames } from "./compose-service.ts";
import { given, text } from "./compose-text.ts";
import type { OwnSettings } from "./member.ts";
import type { YamlMap } from "./yaml.ts";

/** The members `volumes`, `tmpfs` and `volumes_from` of a service. */
export function composeMounts({ host }: OwnSettings, names: ServiceNames): YamlMap {
  const binds = stringsAt(host.Binds).map((bind) => text(bind.replace(/:$/, "")));
  const mounts = [...binds, ...listAt(host.Mounts).map(objectAt).map(longForm)];
  const tmpfs = Object.entries(stringMapAt(host.Tmpfs)).map(([path, options]) =>
    text(options === "" ? path : `${path}:${options}`),
  );
  const from = stringsAt(host.VolumesFrom).map((each) => {
    const [container = "", ...mode] = each.split(":");
    const service = names.get(container);
    return [...(service === undefined ? ["container", container] : [service]), ...mode].join(":");
  });
  return {
    volumes: mounts.length === 0 ? undefined : mounts,
    tmpfs: tmpfs.length === 0 ? undefined : tmpfs,
    volumes_from: from.length === 0 ? undefined : from.map(text),
  };
}

function longForm(mount: RawObject): YamlMap {
  const bind = objectAt(mount.BindOptions);
  const volume = objectAt(mount.VolumeOptions);
  const { SizeBytes: size, Mode: mode } = objectAt(mount.TmpfsOptions);
  const recursive =
    bind.NonRecursive === true ? "disabled" : bind.ReadOnlyNonRecursive === true ? "writable" : undefined;
  return {
    type: text(stringAt(mount.Type)),
    source: given(mount.Source),
    target: text(stringAt(mount.Target)),
    read_only: mount.ReadOnly === true ? true : undefined,
    consistency: given(mount.Consistency),
    bind:
      mount.Type === "bind"
        ? {
            create_host_path: bind.CreateMountpoint === true,
            propagation: given(bind.Propagation),
            recursive: bind.ReadOnlyForceRecursive === true ? "readonly" : recursive,
          }
        : undefined,
    volume:
      volume.NoCopy === true || given(volume.Subpath) !== undefined
        ? { nocopy: volume.NoCopy === true ? true : undefined, subpath: given(volume.Subpath) }
        : undefined,
    tmpfs:
      typeof size === "number" || typeof mode === "number"
        ? {
            size: typeof size === "number" && size > 0 ? size : undefined,
            mode: typeof mode === "number" ? mode : undefined,
          }
        : undefined,
  };
}
