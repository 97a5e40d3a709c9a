import type { net as english } from "../net.ts";
import type { Rendering } from "../types.ts";

function span(minutes: number): string {
  const [count, unit] =
    minutes >= 2_880 ? [minutes / 1_440, "天"] : minutes >= 120 ? [minutes / 60, "小时"] : [minutes, "分钟"];
  return `${Math.round(count)} ${unit}`;
}

export const net = {
  destination_blocked: ({ entry }) =>
    entry == null
      ? "目标地址已被拦截"
      : `目标地址已被拦截；如果该地址本应是内部地址，请将“${entry}”加入 OUTBOUND_ALLOW`,

  timed_out: ({ host, seconds }) => `对“${host}”的请求在 ${seconds} 秒后超时`,
  cancelled: ({ host }) => `对“${host}”的请求已取消`,
  request_failed: ({ host, cause }, tell) => `对“${host}”的请求失败：${tell(cause)}`,
  connection_refused: "连接被拒绝",
  no_socket: "套接字不存在；如果 Tidemark 在容器中运行，请将该套接字挂载到容器内",
  socket_denied: "Tidemark 无权使用该套接字；请将其运行用户加入该套接字所属的用户组",
  connection_closed: "连接已被关闭",
  connection_timed_out: "连接超时",
  host_unreachable: "主机不可达",
  network_unreachable: "网络不可达",
  certificate_for_another_name: "证书属于另一个域名",
  certificate_expired: "证书已过期",
  certificate_not_yet_valid: "证书尚未生效",
  clock_differs: ({ host, minutes, is_ahead }) =>
    `本机时钟比“${host}”的时钟${is_ahead ? "快" : "慢"} ${span(minutes)}；请检查本机时间`,
  certificate_self_signed: "证书是自签名的",
  certificate_untrusted: "证书的颁发机构不受信任",
  gzip_damaged: "响应的 gzip 数据已损坏",
  headers_too_large: ({ kib }) => `响应头超过 ${kib} KiB`,
  protocol_switched: "对方未经请求就切换了协议",
  answer_only_announced: "对方反复发送临时响应（1xx），始终没有正式响应",
  not_http: "响应不是 HTTP",
  answers_plain_http: "对方使用的是 http，而不是 https；请检查地址中的协议和端口",
  wants_https: "对方只接受 https；请检查地址中的协议和端口",
  not_sent: ({ code }) => `请求未能发送${code === null ? "" : `（${code}）`}`,

  scheme_unusable: ({ scheme }) => `只支持 http 和 https，不支持“${scheme}”`,
  user_in_address: ({ host }) => `“${host}”的地址中含有用户名或密码，请改为保存凭据`,
  waiting_for_rate_limit: ({ host, at }) => `“${host}”暂时不接受请求；下一次请求可在 ${at} 发送`,
  rate_limited: ({ host, at }) => `“${host}”限制了请求频率；下一次请求可在 ${at} 发送`,
  answered: ({ host, status, said }) => `“${host}”返回 ${status}${said === "" ? "" : `：${said}`}`,
  unusable_status: ({ host, status }) => `“${host}”返回的状态码为 ${status}`,
  answer_too_large: ({ host, bytes }) =>
    `“${host}”的响应超过 ${bytes >= 1_048_576 ? `${Math.floor(bytes / 1_048_576)} MiB` : `${bytes} 字节`}`,
  unasked_compression: ({ encoding }) => `响应以未请求的“${encoding}”方式压缩`,

  too_many_redirects: ({ host, limit }) => `“${host}”的重定向超过 ${limit} 次`,
  redirect_not_followed: ({ host }) => `“${host}”返回重定向，不会跟随`,
  redirect_to_no_url: ({ host }) => `“${host}”重定向到的位置不是 URL`,
  redirect_to_scheme: ({ host, scheme }) => `“${host}”重定向到“${scheme}”地址；只跟随 http 和 https`,
  redirect_to_http: ({ host, to }) => `“${host}”将 https 请求重定向到 http 地址“${to}”，Tidemark 不会跟随`,
  redirect_of_body: ({ host, to }) => `“${host}”把带正文的请求重定向到“${to}”，不会跟随`,
  destination_redirects: ({ status }) => `目标地址返回重定向 ${status}，不会跟随`,
  destination_status: ({ status }) => `目标地址返回的状态码为 ${status}`,

  connection_failed: ({ host, port }) => `无法连接“${host}”的端口 ${port}`,
  connection_over: ({ host, port }) => `连接“${host}”的端口 ${port} 超时或已取消`,

  name_unresolved: ({ host }) => `无法解析域名“${host}”；请检查该域名和本机的 DNS`,
  name_without_address: ({ host }) => `域名“${host}”没有地址`,
  name_with_many_addresses: ({ host, count, limit }) => `域名“${host}”有 ${count} 个地址；最多接受 ${limit} 个`,

  upstream: "上游",
  quoted_host: ({ host }) => `“${host}”`,
  answer_unreadable: ({ from, cause }, tell) => `无法读取${tell(from)}的响应：${tell(cause)}`,
  not_json: ({ from, start }, tell) => `${tell(from)}的响应不是 JSON：“${start}”`,
  json_too_deep: ({ from }, tell) => `${tell(from)}的响应中 JSON 嵌套过深`,
  json_too_many_parts: ({ from }, tell) => `${tell(from)}的响应中 JSON 内容过多`,
  unexpected_json: ({ from, path, reason }, tell) => `${tell(from)}的响应在 ${path} 处的 JSON 不符合预期：${reason}`,

  url_too_long: ({ length, limit }) => `地址有 ${length} 个字符；最多允许 ${limit} 个`,
  url_with_spaces: "地址中含有空格或控制字符",
  url_with_backslash: "地址中含有反斜杠",
  url_without_scheme: "地址必须以“http://”或“https://”加主机名开头",
  url_with_user: "地址中含有用户名或密码，请去掉",
  url_unparsable: "无法解析此地址",
  url_without_host: "地址中没有主机名",
  port_not_allowed: ({ port, allowed, scheme, entry }) =>
    `${scheme === null ? "" : `${scheme} 地址`}不允许使用端口 ${port}；请改用端口 ${allowed.join("、")}` +
    `${entry === undefined ? "" : `，或将“${entry}”加入 OUTBOUND_ALLOW`}`,

  database_unreachable: ({ host, cause }, tell) =>
    `数据库服务器“${host}”${tell(cause)}；请检查它是否在运行、DATABASE_URL 是否正确，然后重试`,
  database_token_rejected: ({ host, status }) =>
    `数据库服务器“${host}”拒绝了令牌（${status}）；请更正 DATABASE_AUTH_TOKEN，然后重试`,
  database_silent: ({ seconds }) => `在 ${seconds} 秒内没有响应`,
  database_refused: "拒绝连接",
  database_unknown_name: "的域名无法解析",
  database_no_answer: "没有有效的响应",
  database_status: ({ status }) => `返回的状态码为 ${status}`,
  database_answer_too_large: ({ mib }) => `的响应超过 ${mib} MiB`,
} satisfies Rendering<typeof english>;
