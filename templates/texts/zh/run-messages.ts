import type { MessageDictionary } from "../messages.ts";
import { chained } from "./engine-messages.ts";

/** 中断之后或失败之后，引擎上成了什么样；多个容器的句子以分号相连，较长的在前。 */
const recoveries: MessageDictionary = [
  ...chained([
    ['Nothing of "{}" was touched', "“{}”没有任何改动"],
    ['The new container "{}" is in place; the previous one is kept aside', "新容器“{}”已就位；旧容器仍保留在一旁"],
    ['The new container "{}" is in place; the previous one is gone', "新容器“{}”已就位；旧容器已不存在"],
  ]),
  ["The new containers {} are in place; the previous ones are kept aside", "新容器 {} 已就位；旧容器仍保留在一旁"],
  ["The new containers {} are in place; the previous ones are gone", "新容器 {} 已就位；旧容器已不存在"],
  ...chained([
    ['The new container "{}" is in place', "新容器“{}”已就位"],
    [
      'Another container took the name "{}" meanwhile; the previous one is kept as "{}"',
      "此期间另一个容器占用了名称“{}”；旧容器保留为“{}”",
    ],
    ['Another container took the name "{}" meanwhile', "此期间另一个容器占用了名称“{}”"],
    ['The container "{}" is as it was before the run', "容器“{}”与运行之前相同"],
    ['There is no container "{}", as before the run', "容器“{}”不存在，与运行之前相同"],
    ['The run made "{}" and could not remove it: {}', "运行创建了“{}”，但无法移除它：{}"],
    ['Another container took the name "{}"', "另一个容器占用了名称“{}”"],
    ['Another container has the name "{}"', "名称“{}”属于另一个容器"],
    ['The container "{}" was removed', "容器“{}”已被移除"],
    ['The container "{}" was renamed to "{}"', "容器“{}”已被重命名为“{}”"],
    ['The container "{}" was paused', "容器“{}”已被暂停"],
    ['The container "{}" was started and stopped', "容器“{}”曾被启动后又停止"],
    ['The container "{}" was started', "容器“{}”已被启动"],
    ['There is no container "{}" any more', "容器“{}”已不存在"],
    ['The previous container is gone; the new one is in place as "{}"', "旧容器已不存在；新容器已以“{}”的名称就位"],
    ['The previous container "{}" runs; what is left to do failed: {}', "旧容器“{}”正在运行；其余步骤失败：{}"],
    [
      '"{}" was changed while the run waited for what it needs; plan again',
      "运行等待其依赖期间，“{}”被更改；请重新制定计划",
    ],
    ["{}; what is left to do failed: {}", "{}；其余步骤失败：{}"],
    [
      "The previous container could not be put back ({}); the new one is in its place",
      "旧容器无法恢复（{}）；由新容器代替",
    ],
    ['The new container "{}" does not start: {}', "新容器“{}”无法启动：{}"],
    ["The previous container is gone and the new one does not start: {}", "旧容器已不存在，新容器无法启动：{}"],
    ['The target "{}" is down: {}', "目标“{}”已停机：{}"],
    ['"{}" is kept: "{}", which replaced it, does not run', "保留“{}”：替换它的“{}”没有运行"],
    ['"{}" is kept: "{}" cannot be started without it', "保留“{}”：没有它就无法启动“{}”"],
    ['"{}" is kept: the container that was to replace it is gone', "保留“{}”：要替换它的容器已不存在"],
    ["could not stop {}: {}", "无法停止 {}：{}"],
    ["could not start {}: {}", "无法启动 {}：{}"],
    ["could not remove {}: {}", "无法移除 {}：{}"],
    ["could not rename {}: {}", "无法重命名 {}：{}"],
    ["could not set the restart policy of {}: {}", "无法更改 {} 的重启策略：{}"],
    ["gave up after {} moves", "尝试 {} 步后放弃"],
  ]),
];

/** 更新途中的失败，以及运行的理由。 */
const reasons: MessageDictionary = [
  [
    'The container "{}" was changed since the plan was made; plan again',
    "制定计划之后容器“{}”已发生变化；请重新制定计划",
  ],
  [
    'The compose group "{}" was changed since the plan was made; plan again',
    "制定计划之后 compose 组“{}”已发生变化；请重新制定计划",
  ],
  ["The engine did not take over every setting: {}", "引擎没有接收全部设置：{}"],
  ["not every setting arrived: {}", "部分设置未能生效：{}"],
  ['"{}" has not come to its end within an hour', "“{}”在一小时内没有结束"],
  [
    '"{}" ended with exit code {}; what needs it to have completed was not started',
    "“{}”已退出，退出码 {}；要求它先完成的容器没有启动",
  ],
  ['"{}" needs {}', '"{}" 依赖 {}'],
  ['Nothing of "{}" runs', "“{}”没有任何容器在运行"],
  ["It was never started", "从未启动"],
  ["Container exited (code {}): {}", "容器已退出（退出码 {}）：{}"],
  ["Container exited (code {})", "容器已退出（退出码 {}）"],
  ["Container was removed", "容器已被移除"],
  ['Container was renamed to "{}"', "容器已被改名为“{}”"],
  ["Its own health check has not run yet", "自身的健康检查尚未执行"],
  ["The engine restarted it once", "引擎已将其重启 1 次"],
  ["The engine restarted it {} times", "引擎已将其重启 {} 次"],
  ["The engine restarted it once; the last exit code was {}", "引擎已将其重启 1 次；最后的退出码为 {}"],
  ["The engine restarted it {} times; the last exit code was {}", "引擎已将其重启 {} 次；最后的退出码为 {}"],
  ["Answered {}, expected 2xx or 3xx", "返回 {}，期望 2xx 或 3xx"],
  ["Answered {}, expected {}", "返回 {}，期望 {}"],
  ["Answered {}, but {}", "返回 {}，但{}"],
  ['"{}" is not in the first {} characters of the answer', "“{}”不在应答的前 {} 个字符中"],
  ["Port {} accepts connections", "端口 {} 接受连接"],
  ['Connection to "{}" port {} timed out or was cancelled', "到“{}”端口 {} 的连接超时或被取消"],
  ['Connection to "{}" port {} failed', "到“{}”端口 {} 的连接失败"],
];

/** 运行、快照、镜像和审批的表单与接口给出的句子。 */
const forms: MessageDictionary = [
  ["Choose script or compose", "请选择脚本或 compose"],
  ["Write a plan's hash", "请填写计划的哈希"],
  ["Write the hash of a plan, 64 hexadecimal digits", "请填写计划的哈希，64 位十六进制数字"],
  ['Write the image\'s id, "sha256:" and 64 hexadecimal digits', "请填写镜像的编号，“sha256:”加 64 位十六进制数字"],
  ["Write the id of a snapshot", "请填写快照的编号"],
  ["Write the id of a connection", "请填写连接的编号"],
  ["Write the name of a tracker", "请填写追踪器的名称"],
  ["Write the key of one of the tracker's sources", "请填写追踪器中某个来源的标识"],
  ["Write a list of bindings", "请填写绑定列表"],
  ["Bind at most {} services", "最多绑定 {} 个服务"],
  ["Write a time", "请填写时间"],
  ["Choose keep_name or use_tracker", "请选择镜像策略"],
  ["Choose digest or tag", "请选择摘要或标签"],
  ["Choose failed or degraded", "请选择失败或降级"],
  ["Use at least 1 hour", "至少 1 小时"],
  ["Use at least 1 run", "至少 1 个运行"],
  ["Use at most 10 runs", "最多 10 个运行"],
  ["The path has spaces, backslashes, control characters or a fragment", "路径中含有空格、反斜杠、控制字符或片段"],
  [
    'Write at most {} status codes from 100 to 599 with commas between them, for example "200, 204"',
    "最多填写 {} 个 100 至 599 的状态码，以逗号分隔，例如“200, 204”",
  ],
  [
    "A body pattern needs the method GET, an answer to HEAD has no body",
    "匹配响应内容需要使用 GET 方法，HEAD 的应答没有内容",
  ],
  ['The connection "{}" is disabled; enable it first', "连接“{}”已停用，请先启用"],
  ['The connection "{}" is disabled', "连接“{}”已停用"],
  ['There is no list of images of the connection "{}"', "连接“{}”不提供镜像列表"],
  ['The image "{}" is used by {}', "镜像“{}”正被{}使用"],
  ["a container", "容器"],
  ['a snapshot of "{}", {}', "“{}”的快照、{}"],
  ['a snapshot of "{}"', "“{}”的快照"],
  ['There is no image "{}"', "不存在镜像“{}”"],
];

/** 运行及其目标给出的句子。 */
export const runMessages: MessageDictionary = [...recoveries, ...reasons, ...forms];

/** 最多这么多个容器的判断会逐一翻译。 */
const mostContainers = 12;

/** 各容器的判断连成一句：`"web": …; "db": …`。任何句子都可能符合，所以最后才试；容器多的在前。 */
export const containerMessages: MessageDictionary = Array.from({ length: mostContainers }, (_, index) => {
  const count = mostContainers - index;
  const joined = (each: string, separator: string) => Array.from({ length: count }, () => each).join(separator);
  return [joined('"{}": {}', "; "), joined("“{}”：{}", "；")] as const;
});
