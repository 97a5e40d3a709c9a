import type { images as english } from "../images.ts";
import type { Rendering } from "../types.ts";

export const images = {
  blank: "镜像为空，请填写例如 nginx:1.27",
  too_long: ({ image, limit }) => `镜像“${image}”超过 ${limit} 个字符`,
  id: ({ image }) => `“${image}”是镜像 ID，没有仓库名称`,
  two_registries: ({ image, named, address }) =>
    `镜像“${image}”中的镜像仓库是 ${named}，而镜像仓库地址是 ${address}；请去掉其中一个`,
  scheme: ({ image, scheme }) => `镜像“${image}”以 ${scheme}:// 开头，请去掉；没有 TLS 的镜像仓库请用 http://`,
  owner_as_registry: ({ address, host, port }) =>
    `镜像仓库地址“${address}”会被当作 Docker Hub 上的所有者；请加上端口：“${host}:${port}”`,
  uppercase: ({ image, lower }) => `镜像“${image}”的仓库名含有大写字母；请填写“${lower}”`,
  repository: ({ image }) =>
    `镜像“${image}”没有有效的仓库名：请使用小写字母和数字，其间可用单个 . _ -，各部分之间用 / 分隔`,
  tag: ({ tag, image }) => `“${image}”的标签“${tag}”无效：须为 1 到 128 个字母、数字、. _ 和 -，且不以 . 或 - 开头`,
  digest: ({ digest, image }) => `“${image}”的摘要“${digest}”无效：请填写 sha256: 加 64 位小写十六进制数字`,
  registry: ({ registry, image }) =>
    `“${image}”中的“${registry}”不是镜像仓库；请填写主机，例如 ghcr.io 或 registry.example.com:5000`,
  no_name_to_keep: "容器按镜像 ID 运行，没有可保留的名称；请使用追踪器的镜像和标签",
  digest_unknown: ({ image }) => `“${image}”的摘要未知，无法固定；请检查追踪器，或使用标签`,

  id_wanted: "请填写镜像的 ID：“sha256:”加 64 位十六进制数字",
  container: "容器",
  snapshot_of: ({ executor }) => `“${executor}”的快照`,
  not_ours: ({ image }) => `镜像“${image}”与 Tidemark 无关，请手动删除`,
} satisfies Rendering<typeof english>;
