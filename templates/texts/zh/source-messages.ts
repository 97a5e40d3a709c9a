import type { MessageDictionary } from "../messages.ts";

type Entry = MessageDictionary[number];

/** 动作与原因之间的分隔符：引号内的值也可能含有另一种，所以先试该来源常用的。 */
function withReason(english: string, translated: string) {
  return ([action, words]: Entry): Entry => [`Could not ${action}${english}{}`, `无法${words}${translated}{}`];
}

/** Helm 来源尝试的动作。 */
const chartActions: MessageDictionary = [
  ['read the chart repository "{}"', "读取 Chart 仓库“{}”"],
  ['read the chart of "{}"', "读取“{}”的 Chart"],
  ['read the manifest of "{}"', "读取“{}”的清单"],
  ['find the chart "{}"', "找到 Chart“{}”"],
];

/** 代码平台和镜像仓库来源尝试的动作。 */
const actions: MessageDictionary = [
  ['list the releases of "{}"', "列出“{}”的发布"],
  ['list the tags of "{}"', "列出“{}”的标签"],
  ['read the release "{}" of "{}"', "读取“{}”的发布（位于“{}”）"],
  ['read the name of "{}"', "读取“{}”的名称"],
  ['read the digest of "{}"', "读取“{}”的摘要"],
  ['read the image config of "{}"', "读取“{}”的镜像配置"],
  ['get a token for "{}" from "{}"', "为“{}”从“{}”获取令牌"],
  ['read "{}" of "{}"', "读取文件“{}”（位于“{}”）"],
];

/** 来源检查和来源地址校验给出的句子。 */
export const sourceMessages: MessageDictionary = [
  ...chartActions.map(withReason(": ", "：")),
  ...chartActions.map(withReason(", ", "，")),
  ...actions.map(withReason(", ", "，")),
  ...actions.map(withReason(": ", "：")),
  [
    "the answer was {} with a web page, so the address may not be a registry",
    "应答为 {} 的网页，该地址可能不是镜像仓库",
  ],
  ["the answer was {} with a web page", "应答为 {} 的网页"],
  ["the answer was {}, and the source has no credential: {}", "应答为 {}，且该来源没有凭据：{}"],
  ["the answer was {}, and the source has no credential", "应答为 {}，且该来源没有凭据"],
  ["the answer is a web page: is this a forge's address?", "应答是网页，请确认这是代码平台的地址"],
  ["the answer is a web page: the address may not be a chart repository", "应答是网页，该地址可能不是 Chart 仓库"],
  ["the answer is empty", "应答为空"],
  ["the answer has neither a repository nor an error", "应答中既没有仓库也没有错误"],
  ["the answer is not what git says: {}", "应答不符合 git 协议：{}"],
  ["the answer is an error: {}", "应答为错误：{}"],
  ["the answer breaks off within its JSON", "应答的 JSON 不完整"],
  ["GitHub says: {}", "GitHub 返回：{}"],
  ["it is a folder", "它是一个目录"],
  ["the redirect leads to no address", "重定向没有指向有效地址"],
  ['"{}" redirects to "{}": write the address that the forge is at', "“{}”重定向到“{}”，请填写代码平台的实际地址"],
  ['"{}" redirects more than {} times', "“{}”的重定向超过 {} 次"],
  ['"{}" redirects, which is not followed', "“{}”发生重定向，不会跟随"],
  ['"{}" limits the rate of requests, the next one can be sent at {}', "“{}”限制请求频率，下一次最早可在 {} 发送"],
  ['"{}" accepts no requests for now, the next one can be sent at {}', "“{}”暂不接受请求，下一次最早可在 {} 发送"],
  ["The body broke off", "应答正文中断"],
  ['The answer of "{}" is larger than {}', "“{}”的应答大于 {}"],
  ["GitLab asks to sign in: store a token as a credential", "GitLab 要求登录，请将令牌保存为凭据"],
  ["its releases are turned off, or closed to those who are not members", "其发布功能已关闭，或仅对成员开放"],
  ["its repository is closed to those who are not members", "其仓库仅对成员开放"],
  [
    "its releases come without their tags: the credential may not read the repository",
    "其发布不含标签，凭据无权读取仓库",
  ],
  ['there is no chart "{}", it has no charts', "其中没有 Chart“{}”，该仓库为空"],
  ['there is no chart "{}", it has 1 other chart, such as {}', "其中没有 Chart“{}”，另有 1 个 Chart，例如 {}"],
  ['there is no chart "{}", it has 1 other chart', "其中没有 Chart“{}”，另有 1 个 Chart"],
  ['there is no chart "{}", it has {} other charts, such as {}', "其中没有 Chart“{}”，另有 {} 个 Chart，例如 {}"],
  ['there is no chart "{}", it has {} other charts', "其中没有 Chart“{}”，另有 {} 个 Chart"],
  [
    'there is no "entries", so the address may not be a chart repository',
    "其中没有“entries”，该地址可能不是 Chart 仓库",
  ],
  ['the {} tags of "{}" are no versions, as "{}"', "{} 个标签（位于“{}”）都不是版本，例如“{}”"],
  [
    "the registry wants a user name and password, and the source has no credential",
    "镜像仓库要求用户名和密码，而该来源没有凭据",
  ],
  ["the registry answered 401 without saying how to sign in", "镜像仓库返回 401，但没有说明登录方式"],
  [
    "GraphQL-first needs a credential, because GitHub answers GraphQL to tokens only; choose one, or REST-first",
    "GraphQL 优先需要凭据，因为 GitHub 只对持有令牌者应答 GraphQL；请选择凭据，或改用 REST 优先",
  ],
  ['Write the repository as "owner/repo", not "{}"', "请按“owner/repo”填写仓库，而不是“{}”"],
  ['Write a repository such as "owner/repo"', "请填写仓库，例如“owner/repo”"],
  ["A repository has at most 500 characters", "仓库最多 500 个字符"],
  ["An address has at most 300 characters", "地址最多 300 个字符"],
  ["An address has at most 2048 characters", "地址最多 2048 个字符"],
  ["Choose rest or graphql", "请选择 rest 或 graphql"],
  ['Write the instance alone: "{}", not "{}"', "请只填写实例地址“{}”，而不是“{}”"],
  ['The address is on "{}", and the instance URL names another place', "该地址位于“{}”，与实例地址不一致"],
  [
    'The address "{}" cannot be read, it looks like https://github.example.com',
    "无法识别地址“{}”，格式应类似 https://github.example.com",
  ],
  ['The address "{}" begins with neither https:// nor http://', "地址“{}”应以 https:// 或 http:// 开头"],
  [
    'The address "{}" has a user name or password; store a credential instead',
    "地址“{}”中含有用户名或密码，请改为保存凭据",
  ],
  ["The address has a user name or password; store a credential instead", "地址中含有用户名或密码，请改为保存凭据"],
  [
    'Write the address of the Gitea or Forgejo, such as "https://codeberg.org"',
    "请填写 Gitea 或 Forgejo 的地址，例如“https://codeberg.org”",
  ],
  ['"{}" is no address, write it as "{}"', "“{}”不是地址，请按“{}”的格式填写"],
  ['"{}" is no http or https address', "“{}”不是 http 或 https 地址"],
  ['"{}" is no repository, write it as "owner/repo"', "“{}”不是仓库，请按“owner/repo”填写"],
  [
    '"{}" is no project, write it as "group/project" or as its numeric id',
    "“{}”不是项目，请按“group/project”填写，或填写数字编号",
  ],
  ['"{}" is not on the instance "{}"', "“{}”不在实例“{}”上"],
  ['"{}" is not the address of a repository', "“{}”不是仓库的地址"],
  ['"{}" is not the address of a project', "“{}”不是项目的地址"],
  ['Write a project such as "group/project"', "请填写项目，例如“group/project”"],
  ["A project has at most 1200 characters", "项目最多 1200 个字符"],
  ['Write a chart name such as "ingress-nginx"', "请填写 Chart 名称，例如“ingress-nginx”"],
  ["A chart name has at most 200 characters", "Chart 名称最多 200 个字符"],
  [
    'Write an address such as "https://charts.example.com" or "oci://registry.example.com/charts"',
    "请填写地址，例如“https://charts.example.com”或“oci://registry.example.com/charts”",
  ],
  ["Choose auto, build_time or first_observed", "请选择 auto、build_time 或 first_observed"],
  ['The image needs a value for {}: enter it under "Variables"', "镜像缺少 {} 的值：请在“变量”中填写"],
  ['This is no YAML: "{}" is there twice in one place', "这不是 YAML：“{}”在同一处出现了两次"],
  ["This is no YAML: {}", "这不是 YAML：{}"],
  [
    "It follows {}, and only a repository, a registry or a chart can be tracked",
    "它跟踪的是 {}，而只能跟踪仓库、镜像或 Chart",
  ],
  ["None of its sources has a channel that is switched on", "它的来源没有启用的通道"],
];
