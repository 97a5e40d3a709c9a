import type { composeFiles as english } from "../compose-files.ts";
import type { Rendering } from "../types.ts";
import { quotedList } from "./lists.ts";

export const composeFiles = {
  too_large: ({ limit }) => `compose 文件超过 ${limit} 个字符`,
  too_complex: "compose 文件嵌套过深，或其别名和变量展开后过大",
  line_ends: "compose 文件含有 LF 和 CRLF 以外的换行符；请先替换它们",
  not_utf8: ({ line }) => `compose 文件含有不是 UTF-8 的字符（第 ${line} 行），修改会使其丢失；请先将其保存为 UTF-8`,
  not_yaml: ({ line }) => `无法将 compose 文件解析为 YAML：请检查第 ${line} 行`,
  duplicate_key: ({ key, line }) => `compose 文件在第 ${line} 行重复了键“${key}”；compose 不接受这样的文件`,
  several_documents: "compose 文件包含多个 YAML 文档；只能修改单个文档的文件",
  no_services: "compose 文件中没有服务",

  service_not_found: ({ service }) => `compose 文件中没有服务“${service}”`,
  service_elsewhere: ({ service, files }) =>
    `服务“${service}”不在此 compose 文件中；该文件引用了${quotedList(files)}，请在那里修改`,
  in_other_file: ({ service, file }) => `服务“${service}”的镜像来自“${file}”；请在那里修改`,
  extends_too_far: ({ service }) => `服务“${service}”通过 \`extends\` 继承了自身，或继承链过长`,
  no_image: ({ service }) => `服务“${service}”没有镜像`,
  built: ({ service }) => `服务“${service}”的镜像由源码构建（\`build\`）`,
  tagged: ({ service }) => `服务“${service}”的镜像取决于 \`!reset\` 之类的 YAML 标签；请手动修改`,
  image_not_text: ({ service }) => `服务“${service}”的镜像不是文本`,
  image_form: ({ service }) => `服务“${service}”的镜像的写法无法精确修改；请先将其写到一行`,
  bad_template: ({ service }) => `服务“${service}”的镜像含有 compose 无法解析的变量`,
  variable_required: ({ service, names }) => `服务“${service}”的镜像需要一个没有值的变量（${names.join("、")}）`,
  variable_not_set: ({ service, name }) => `服务“${service}”的镜像使用了没有值的变量 ${name}；请先设置它`,
  reference_not_plain: ({ service, reference }) => `无法将“${reference}”写为服务“${service}”的镜像`,
  no_single_edit: ({ service, reference }) =>
    `无法确定应修改服务“${service}”的哪个变量或哪段文本才能得到“${reference}”；请手动修改镜像`,

  conflict_in_line: ({ services, line }) =>
    `${quotedList(services)}的镜像都来自第 ${line} 行，却需要不同的镜像；请分别为其写出镜像`,
  conflict_in_variable: ({ services, name }) =>
    `${quotedList(services)}的镜像都来自变量 ${name}，却需要不同的镜像；请为其使用各自的变量`,
  shared_line: ({ services, line, places, more }) =>
    `修改第 ${line} 行上${quotedList(services)}的镜像，也会改变${quotedList(places)}${more > 0 ? `等（另有 ${more} 处）` : ""}`,
  shared_variables: ({ names, places, more }) =>
    `修改 ${names.join("、")} 的值，也会改变${quotedList(places)}${more > 0 ? `等（另有 ${more} 处）` : ""}`,
  variables_elsewhere: ({ names, files }) =>
    `${quotedList(files)}也可能使用 ${names.join("、")}，而 Tidemark 看不到这些文件`,
  edit_not_proved: "修改后的 compose 文件与预期不符；请手动修改镜像",
} satisfies Rendering<typeof english>;
