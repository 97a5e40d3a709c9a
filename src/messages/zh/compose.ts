import type { compose as english } from "../compose.ts";
import type { Rendering } from "../types.ts";
import { quotedList } from "./lists.ts";

export const compose = {
  names_already: ({ image }) => `文件写的已经是“${image}”`,
  reverts: ({ image }) => `文件写的是“${image}”：若不作此修改，下次 \`docker compose up\` 会退回到它`,
  moves: ({ image, running }) =>
    `文件写的是“${image}”，而运行的是“${running}”：若不作此修改，下次 \`docker compose up\` 会换成文件所写的镜像`,
  then_nothing: "修改后，下一次不会重新创建任何容器",
  then_recreated: ({ image, cause }, tell) => `修改后，下一次会用“${image}”重新创建容器一次，原因：${tell(cause)}`,
  edit_manually: ({ cause }, tell) => `需要手动修改，原因：${tell(cause)}`,
  same_edit: ({ service }) => `与“${service}”是同一处修改`,
  also_changes: ({ services }) => `同一处修改也会影响${quotedList(services)}`,
  unreadable: ({ service, cause }, tell) =>
    `无法读取 compose 文件（${tell(cause)}）：若不为服务“${service}”写入此行，下次 \`docker compose up\` 会退回文件所写的镜像；写入后容器会重新创建一次`,
  podman: ({ service }) =>
    `只要文件未被修改，\`podman-compose up\` 就不会改动服务“${service}”；写入此行后它会重新创建容器一次，若不写入，以后任何重新创建都会退回文件所写的镜像`,
  shares: ({ cause }, tell) =>
    `无需修改文件；下次 \`docker compose up\` 会重新创建该容器一次，因为与它共享资源的容器已有新的 ID（${tell(cause)}）`,

  not_installed: "Tidemark 所在的环境没有安装 compose",
  not_run: ({ cause }, tell) => `无法运行 compose（${tell(cause)}）`,
  no_hashes: "compose 没有给出其文件的哈希",
  no_hashes_edited: "文件修改后 compose 没有给出其哈希",
  other_files: "它并非（或并非仅）由现有的文件创建：文件此后被修改过，或使用了 shell 变量",
  edit_changes_more: "此修改改变的不只是镜像",
  no_hash_label: "它没有 compose 的哈希",
  odd_names: "它的标签中有 compose 不会使用的名称",
  line_has_more: "该行不只包含镜像",
  shared_line: ({ service }) => `“${service}”的镜像也来自该处，但要换成别的镜像：两者之一需要自己的一行`,
  service_not_found: "其中没有找到该服务",
  image_not_plain: "镜像不是普通文本",
  variable_not_found: ({ name }) => `文件中没有找到 ${name} 的值`,
  image_there_not_plain: "其中的镜像不是普通文本",
  image_built: "其镜像在那里构建",
  image_not_there: "其中没有写镜像",
  image_inherited: "其镜像来自文件中的另一个服务",
  no_path: "它的标签没有说明 compose 文件的位置",
  too_many_files: ({ limit }) => `它由超过 ${limit} 个文件创建`,
  not_named_like_one: ({ path }) => `“${path}”的名称不像 compose 文件`,
  not_absolute: ({ path }) => `“${path}”不是绝对路径`,
  leads_elsewhere: ({ path }) => `“${path}”是指向别处的链接`,
  not_regular: ({ path }) => `“${path}”不是普通文件`,
  too_large: ({ path, limit }) => `“${path}”超过 ${limit} 字节`,
  not_visible: ({ path }) => `Tidemark 看不到“${path}”`,
  not_allowed: ({ path }) => `Tidemark 无权读取“${path}”`,
  not_text: ({ path }) => `无法将“${path}”作为文本读取`,
} satisfies Rendering<typeof english>;
