import type { MessageDictionary } from "../messages.ts";

/** 停机如何结束。 */
const recoveries: MessageDictionary = [];

/** 更新途中的失败，以及运行的理由。 */
const reasons: MessageDictionary = [
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
