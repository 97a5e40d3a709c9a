import type { MessageDictionary } from "../messages.ts";

/** 句子之后还可能接着其他句子，以分号相连；接续的在前。 */
export function chained(sentences: MessageDictionary, english = "; ", translated = "；"): MessageDictionary {
  return sentences.flatMap(
    ([sentence, words]): MessageDictionary => [
      [`${sentence}${english}{}`, `${words}${translated}{}`],
      [sentence, words],
    ],
  );
}

/** 拒绝更新或回滚的理由，以及更新前的提示。 */
const refusals: MessageDictionary = [
  [
    'The engine does not tell the name of the volume at "{}", so it could not be mounted again',
    "引擎没有给出挂载在“{}”的卷的名称，因此无法重新挂载",
  ],
  [
    "Whether a MAC address was chosen for it on {} is not known: the engine tells that only while the container runs",
    "无法得知是否在 {} 上为它指定了 MAC 地址：引擎只在容器运行时给出",
  ],
  ["The snapshot cannot be restored exactly: {}", "无法原样恢复快照：{}"],
  ["What is replaced cannot be saved, and nothing leads back to it: {}", "将被替换的容器无法保存，之后无法回到它：{}"],
  ["The image that it was made from ({}) is no longer on the engine", "创建它所用的镜像（{}）已不在引擎上"],
  ['The image of the container "{}" is no longer on the engine', "容器“{}”的镜像已不在引擎上"],
  [
    'The image "{}" of the snapshot is no longer on the engine and was never pulled by a digest',
    "快照中的镜像“{}”已不在引擎上，而且从未按摘要拉取过",
  ],
  [
    '"{}" is another container now, neither the one of the snapshot nor one that a run has made; it would be replaced',
    "“{}”现在是另一个容器，既不是快照中的容器，也不是由运行创建的；它将被替换",
  ],
  [
    '"{}" is another container now, not one of "{}"; rename or remove it first',
    "“{}”现在是另一个容器，不属于“{}”；请先将其重命名或删除",
  ],
  [
    'The volume "{}" of {} is gone; restore it with its data first, or make an empty one with `{}`',
    "卷“{}”（{} 使用）已不存在；请先恢复该卷及其数据，或用 `{}` 创建一个空卷",
  ],
  ['The network "{}" of {} is gone; create it again first', "网络“{}”（{} 使用）已不存在；请先重新创建它"],
  ['"{}" lost its networks when the engine failed to start it', "引擎启动“{}”失败时使它脱离了网络"],
  [
    'It lost the network "{}" when the engine failed to start it. Reconnect it with "docker network connect" or recreate it, then start it',
    "引擎启动它失败时使它脱离了网络“{}”。请用 docker network connect 重新连接或重新创建它，然后启动",
  ],
  [
    "The engine failed to connect it at its last start and may have dropped a network. Check its networks, then start it",
    "上次启动时引擎未能连接其网络，可能使它脱离了某个网络。请检查它的网络，然后启动它",
  ],
  [
    "{}. No container publishes port {}: the engine did not release it. Restart the engine to free it",
    "{}。没有容器发布端口 {}：引擎没有释放该端口。请重启引擎以释放它",
  ],
  [
    "No container publishes port {}: the engine did not release it. Restart the engine to free it",
    "没有容器发布端口 {}：引擎没有释放该端口。请重启引擎以释放它",
  ],
  ['{}. "{}" publishes port {}', "{}。“{}”发布了端口 {}"],
  ['"{}" publishes port {}', "“{}”发布了端口 {}"],
  ["A container that it takes volumes from is no longer there", "它从中获取卷的容器已不存在"],
  ["The new image is for {}, the container runs {}", "新镜像适用于 {}，而容器运行的是 {}"],
  [
    'The replicas of "{}" differ from each other; make them equal with `docker compose up` first',
    "“{}”的各个副本设置不同；请先用 `docker compose up` 使其一致",
  ],
  ['"{}" hangs on it and cannot be made anew: {}', "“{}”依附于它，但无法重新创建：{}"],
  ["{}: a circle has no order in which it could be updated", "{}：循环依赖，没有可行的更新顺序"],
  [
    "It ends by design and is run once from the new image; what it has done by then is not undone by putting back",
    "它按设计会自行结束，将用新镜像运行一次；恢复旧容器不会撤销它已完成的工作",
  ],
  [
    '"{}" cannot run beside its successor: {}; switch "start before stop" off',
    "“{}”无法与它的新容器同时运行：{}；请关闭“先启动后停止”",
  ],
  ["it publishes host ports", "它发布了主机端口"],
  ['it uses the network "{}"', "它使用网络“{}”"],
  ["it has a fixed address", "它有固定的地址"],
  ["it has a fixed MAC address", "它有固定的 MAC 地址"],
  ["{} hang on it", "{} 依附于它"],
  [
    "The connection speaks API {}, which does not show {}; the engine's {} does",
    "此连接使用 API {}，它不显示 {}；引擎的 {} 才显示",
  ],
  [
    'Compose put {} files with {} bytes into "{}", and at most {} with {} bytes are carried; the largest: {}',
    "compose 放入了 {} 个文件，共 {} 字节（容器“{}”），最多只能带走 {} 个、{} 字节；最大的是：{}",
  ],
  [
    '"{}" has {} changed files outside of its volumes, more than the {} among which those that compose put there are looked for; keep its data in a volume',
    "“{}”在卷之外有 {} 个改动过的文件，超过查找 compose 所放文件的上限 {} 个；请把数据放在卷中",
  ],
  [
    'The files that compose put into "{}" cannot be read and would be lost: {}',
    "无法读取 compose 放入“{}”的文件，更新会使其丢失：{}",
  ],
  ['"{}" changed while it was read from the container', "从容器读取“{}”时它发生了变化"],
  ['The files up to "{}" have more than {} bytes together', "到“{}”为止的文件合计超过 {} 字节"],
  ["The archive has a path that leads out of its place", "归档中有指向其外部的路径"],
  ["The engine did not take over every file of compose: {}", "引擎没有接收 compose 的全部文件：{}"],
  ["The engine's archive cannot be read: {}", "无法读取引擎的归档：{}"],
  ["a header is damaged", "文件头已损坏"],
  ["an extended header is damaged", "扩展文件头已损坏"],
  ["it ends early", "内容提前结束"],
  [
    'In the snapshot "{}" hangs on the container "{}" ({}), which is gone',
    "快照中的“{}”依附于容器“{}”（{}），而该容器已不存在",
  ],
  ['The snapshot is of "{}", not of "{}"', "快照属于“{}”，不属于“{}”"],
  ["The snapshot is not JSON", "快照不是 JSON"],
  ["The snapshot cannot be read: {}", "无法读取快照：{}"],
  ["This snapshot was made by another version of Tidemark", "此快照由其他版本的 Tidemark 生成"],
  ["This kind of target has no snapshots", "这类目标没有快照"],
  ["The registry's {} is another image than the snapshot's", "镜像仓库中的 {} 与快照中的不是同一个镜像"],
];

/** 只有 Podman 才有的理由。 */
const podmanRefusals: MessageDictionary = [
  ['It was made from the folder "{}", not from an image', "它由目录“{}”创建，而不是由镜像创建"],
  [
    "It uses the secrets {}, and Podman does not report in which form and place",
    "它使用机密 {}，而 Podman 不会给出其形式和位置",
  ],
  ["It was made with {}, which Podman does not tell completely", "创建时使用了 {}，而 Podman 不会完整给出"],
  [
    'It joins the network namespace "{}", which belongs to none of the containers',
    "它加入了网络命名空间“{}”，而该命名空间不属于任何容器",
  ],
  [
    "It is the service container of a Kubernetes file, which Podman makes and removes itself",
    "它是 Kubernetes 文件的服务容器，由 Podman 自行创建和移除",
  ],
  [
    "It was made from a Kubernetes file; change the image there and play the file again",
    "它由 Kubernetes 文件创建；请在文件中修改镜像后重新执行",
  ],
  [
    'It requires "{}", which an earlier update kept aside and which would be started with it; make it again with the command that made it first',
    "它依赖先前的更新所保留的“{}”，启动它会同时启动后者；请先用创建它的命令重新创建",
  ],
  [
    'It requires "{}", which does not run and would be started with it; start "{}" first, or stop both',
    "它依赖未运行的“{}”，启动它会同时启动后者；请先启动“{}”，或将两者都停止",
  ],
  [
    'It requires "{}", which has come to its end: the engine runs that again whenever it starts this one',
    "它依赖已经结束的“{}”：每次启动它时，引擎都会再次运行后者",
  ],
  [
    'Where the systemd unit "{}" is installed and started, it stops the whole project as soon as each of its containers was stopped once; stop the unit before the update and start it again after',
    "如果 systemd 单元“{}”已安装并启动，则项目的每个容器都停止过一次后，它会停止整个项目；请在更新前停止该单元，更新后再启动",
  ],
  [
    'Its process id is written to "{}" (--pidfile), of which the service cannot be told',
    "它的进程号写入“{}”（--pidfile），而该设置无法告知 Podman 服务",
  ],
  [
    'The file "{}" (--cidfile) goes on naming the id of the present container',
    "文件“{}”（--cidfile）中仍将是当前容器的 ID",
  ],
  [
    "It was created through the API. For such containers Podman does not report chosen addresses and interface names, kernel parameters, rights on devices, a host or private IPC mode, and which variables come from secrets: these are not carried over",
    "它通过 API 创建。对这类容器，Podman 不会给出指定的地址、接口名称、内核参数、设备权限、host 或 private 的 IPC 模式，以及哪些变量来自机密：这些设置不会被沿用",
  ],
  ...chained(
    (
      [
        ["rules for devices", "设备规则"],
        ["rights on a device", "设备权限"],
        ["GPUs", "GPU"],
        ["masked paths", "屏蔽路径"],
        ["storage options", "存储选项"],
        ["secrets", "机密"],
        ["a personality", "执行域"],
        ["an entry of /etc/passwd or /etc/group", "/etc/passwd 或 /etc/group 的条目"],
        ["users of the host", "主机用户"],
        ["a root file system in place of an image", "代替镜像的根文件系统"],
        ["an init program of its own", "自带的 init 程序"],
        ["being an init container", "作为 init 容器"],
        ["open file descriptors", "打开的文件描述符"],
        ["variables of the image taken away", "去除镜像的变量"],
        ["how volumes of the image are treated", "镜像卷的处理方式"],
        ["an overlay mount", "overlay 挂载"],
        ["its own /etc/hosts", "自己的 /etc/hosts"],
        ["its own /etc/resolv.conf", "自己的 /etc/resolv.conf"],
        ["a seccomp policy", "seccomp 策略"],
        ["an option of a network", "网络选项"],
      ] as const
    ).map(([english, translated]) => [`${english} (--{})`, `${translated}（--{}）`] as const),
    ", ",
    "、",
  ),
];

/** 计划中关于 compose 文件的说明：几个部分以分号相连。 */
const fileNotices: MessageDictionary = [
  ...chained([
    ['The file names "{}" already', "文件写的已经是“{}”"],
    [
      'The file names "{}": without this edit the next `docker compose up` goes back to it',
      "文件写的是“{}”：若不作此修改，下次 `docker compose up` 会退回到它",
    ],
    [
      'The file names "{}" while "{}" runs: without this edit the next `docker compose up` moves to that',
      "文件写的是“{}”，而运行的是“{}”：若不作此修改，下次 `docker compose up` 会换成文件所写的镜像",
    ],
    ["after it the next one recreates nothing", "修改后，下一次不会重建任何容器"],
    [
      'after it the next one makes the container anew from "{}" once, because {}',
      "修改后，下一次会用“{}”重建容器一次，原因：{}",
    ],
    ["it has to be edited by hand, because {}", "需要手动修改，原因：{}"],
    ['it is the edit for "{}"', "与“{}”是同一处修改"],
    ["the same edit changes {}", "同一处修改也会影响 {}"],
  ]),
  [
    'The compose file cannot be read ({}): unless the service "{}" gets this line, the next `docker compose up` goes back to the image that the file names; with it the container is made anew once',
    "无法读取 compose 文件（{}）：若不为服务“{}”写入此行，下次 `docker compose up` 会退回文件所写的镜像；写入后容器会重建一次",
  ],
  [
    'As long as its file is not edited, `podman-compose up` leaves the service "{}" as it is; with this line it makes the container anew once, and without it whatever makes it anew goes back to the image that the file names',
    "只要文件未被修改，`podman-compose up` 就不会改动服务“{}”；写入此行后它会重建容器一次，若不写入，以后任何重建都会退回文件所写的镜像",
  ],
  [
    "Nothing has to be edited; the next `docker compose up` makes the container anew once, for it shares with one that has another id now ({})",
    "无需修改文件；下次 `docker compose up` 会重建该容器一次，因为与它共享资源的容器已有新的 ID（{}）",
  ],
  ["compose is not installed beside Tidemark", "Tidemark 所在的环境没有安装 compose"],
  ["compose does not answer for its files", "compose 无法处理它的文件"],
  ["compose does not answer for its files once they are edited", "文件修改后 compose 无法处理"],
  [
    "its files are not, or not alone, what it was made from: they were edited since, or a shell's variables went in",
    "它并非（或并非仅）由这些文件创建：文件此后被修改过，或使用了 shell 变量",
  ],
  ["the edit changes more of it than its image", "此修改改变的不只是镜像"],
  ["it carries no hash of compose", "它没有 compose 的哈希"],
  ["its labels hold names that compose does not give", "它的标签中有 compose 不会使用的名称"],
  ["the line has more in it than the image", "该行不只包含镜像"],
  [
    '"{}" gets its image from the same place and is to get another one: one of the two needs a line of its own',
    "“{}”的镜像也来自该处，但要换成别的镜像：两者之一需要自己的一行",
  ],
  ["the service was not found there", "其中没有找到该服务"],
  ["the image is no plain text", "镜像不是普通文本"],
  ["the value of {} was not found in a file", "文件中没有找到 {} 的值"],
  ["its image is no plain text there", "其中的镜像不是普通文本"],
  ["its image is built from there", "其镜像在那里构建"],
  ["no image is written there", "其中没有写镜像"],
  ["its image comes from another service there", "其镜像来自文件中的另一个服务"],
  ["its labels do not tell where its compose file is", "它的标签没有说明 compose 文件的位置"],
  ["it was made from more than {} files", "它由超过 {} 个文件创建"],
  ['"{}" is not named like a compose file', "“{}”的名称不像 compose 文件"],
  ['"{}" is no absolute path', "“{}”不是绝对路径"],
  ['"{}" is a link that leads elsewhere', "“{}”是指向别处的链接"],
  ['"{}" is no regular file', "“{}”不是普通文件"],
  ['"{}" has {} bytes, and {} at most are read', "“{}”有 {} 字节，最多读取 {} 字节"],
  ['"{}" has more than {} bytes', "“{}”超过 {} 字节"],
  ['"{}" is not visible to Tidemark', "Tidemark 看不到“{}”"],
  ['"{}" may not be read by Tidemark', "Tidemark 无权读取“{}”"],
  ['"{}" cannot be read as text', "无法将“{}”作为文本读取"],
];

/** 连接引擎、拉取镜像和发现目标时的失败。 */
const engineFaults: MessageDictionary = [
  [
    'The engine at this address is Podman {}, not Docker; choose "Podman" as the connection\'s type',
    "此地址的引擎是 Podman {}，不是 Docker；请将连接类型选为“Podman”",
  ],
  [
    'The engine at this address is not Podman; choose "Docker Engine" as the connection\'s type',
    "此地址的引擎不是 Podman；请将连接类型选为“Docker 引擎”",
  ],
  ["The engine is Podman {}; {} is the oldest that is supported", "引擎是 Podman {}；支持的最低版本为 {}"],
  ["The engine speaks API {} to {}; the connection asks for {}", "引擎支持 API {} 至 {}；连接要求 {}"],
  ["The engine speaks API {} to {}; Tidemark speaks {} to {}", "引擎支持 API {} 至 {}；Tidemark 支持 {} 至 {}"],
  ["The engine has {} containers; {} at most are supported", "引擎有 {} 个容器；最多支持 {} 个"],
  ["Not let through to the engine: {}; allow them at the socket proxy", "未能到达引擎：{}；请在套接字代理中放行"],
  ["The engine refused {} ({}): no text", "引擎拒绝了 {}（{}），没有说明"],
  ["The engine refused {} ({}): {}", "引擎拒绝了 {}（{}）：{}"],
  ["The engine did not answer {}: {}", "引擎没有应答 {}：{}"],
  ["nothing within {} ms", "{} 毫秒内没有应答"],
  ["the work was stopped", "操作已停止"],
  ["its status is {}", "应答的状态码为 {}"],
  ["it redirects ({}), which is not followed", "引擎发生重定向（{}），不会跟随"],
  ["it did not come to its end within {} ms", "{} 毫秒内没有结束"],
  ["more than {} bytes", "超过 {} 字节"],
  ["the connection broke in the middle of the answer", "应答途中连接中断"],
  ["the answer ended early", "应答提前结束"],
  ["connect ENOENT {}", "套接字 {} 不存在"],
  ["connect ECONNREFUSED {}", "{} 拒绝连接"],
  ["connect EACCES {}", "无权访问 {}"],
  ["{} was not sent: the work was stopped", "{} 未发送：操作已停止"],
  ["The answer to HEAD {} does not tell what is there", "对 HEAD {} 的应答没有说明该处的内容"],
  ["The answer to GET {} is no archive", "对 GET {} 的应答不是归档"],
  ["The answer to {} is not what an engine answers: {}", "对 {} 的应答不像引擎的应答：{}"],
  [
    "The credential needs the client certificate and the client key, or neither",
    "凭据需同时包含客户端证书和客户端密钥，或两者都不含",
  ],
  ["The connection's {} is not usable: {}", "连接的 {} 不可用：{}"],
  ["The pull of {} brought no image", "拉取 {} 后没有得到镜像"],
  ["The engine has another image than {} after the pull", "拉取后引擎中的镜像与 {} 不同"],
  ["The pull of {} answered what no engine answers: {}", "拉取 {} 时的应答不像引擎的应答：{}"],
  ["The pull of {} answered a line without an end", "拉取 {} 时的应答行没有结尾"],
  ["The pull of {} ended without a word", "拉取 {} 时没有任何应答"],
  ["The engine could not pull {}: {}", "引擎无法拉取 {}：{}"],
  ['The image "{}" is not on the engine; prepare the plan first', "镜像“{}”不在引擎上；请先准备计划"],
  ['The image "{}" keeps getting new names', "镜像“{}”不断获得新的名称"],
  ['There is no container "{}" on the engine', "引擎上没有容器“{}”"],
  ['There is no compose group "{}" on the engine', "引擎上没有 compose 组“{}”"],
  ["The session was closed", "会话已关闭"],
];

/** 引擎给出的句子：能否更新、计划说了什么、连接哪里不通。 */
export const engineMessages: MessageDictionary = [...refusals, ...podmanRefusals, ...fileNotices, ...engineFaults];
