import type { addresses as english } from "../addresses.ts";
import type { Rendering } from "../types.ts";

export const addresses = {
  repository_wanted: "请填写仓库，例如“owner/repo”",
  project_wanted: "请填写项目，例如“group/project”",
  chart_wanted: "请填写 Chart 名称，例如“ingress-nginx”",
  chart_repository_wanted: "请填写地址，例如“https://charts.example.com”或“oci://registry.example.com/charts”",
  image_wanted: "请填写镜像名称，例如“library/nginx”或“ghcr.io/owner/app”",
  instance_wanted: "请填写 Gitea 或 Forgejo 实例的地址，例如“https://codeberg.org”",

  with_user: "地址中含有用户名或密码，请改为保存凭据",
  no_address: ({ typed, example }) => `“${typed}”不是地址，请填写例如“${example}”`,
  not_http: ({ typed }) => `“${typed}”不是 http 或 https 地址`,
  with_query: ({ typed }) => `“${typed}”不只是地址，请去掉“?”或“#”及其后的内容`,
  instance_alone: ({ typed, origin }) => `请只填写实例地址“${origin}”，而不是“${typed}”`,
  on_another_instance: ({ typed, instance }) => `“${typed}”不在实例“${instance}”上`,
  no_repository: ({ typed }) => `“${typed}”不是仓库，请按“owner/repo”填写`,
  no_address_of_repository: ({ typed }) => `“${typed}”不是仓库的地址`,
  no_project: ({ typed }) => `“${typed}”不是项目，请按“group/project”填写，或填写数字编号`,
  no_address_of_project: ({ typed }) => `“${typed}”不是项目的地址`,
  no_chart_name: ({ typed }) => `“${typed}”不是 Chart 名称：可用字母、数字、点、连字符和下划线，例如“ingress-nginx”`,
  no_chart_repository: ({ typed }) => `“${typed}”不是 Chart 仓库的地址，请以“https://”、“http://”或“oci://”开头`,
  with_blanks: ({ typed }) => `“${typed}”中含有空格、反斜杠或控制字符`,
  no_registry: ({ registry }) => `镜像仓库“${registry}”的地址不可用`,
} satisfies Rendering<typeof english>;
