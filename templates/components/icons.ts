import activity from "lucide-static/dist/esm/icons/activity.mjs";
import arrowDown from "lucide-static/dist/esm/icons/arrow-down.mjs";
import arrowDownToLine from "lucide-static/dist/esm/icons/arrow-down-to-line.mjs";
import arrowLeft from "lucide-static/dist/esm/icons/arrow-left.mjs";
import arrowRight from "lucide-static/dist/esm/icons/arrow-right.mjs";
import arrowUp from "lucide-static/dist/esm/icons/arrow-up.mjs";
import bell from "lucide-static/dist/esm/icons/bell.mjs";

import box from "lucide-static/dist/esm/icons/box.mjs";
import calendarClock from "lucide-static/dist/esm/icons/calendar-clock.mjs";
import chartColumn from "lucide-static/dist/esm/icons/chart-column.mjs";
import check from "lucide-static/dist/esm/icons/check.mjs";
import chevronDown from "lucide-static/dist/esm/icons/chevron-down.mjs";
import chevronLeft from "lucide-static/dist/esm/icons/chevron-left.mjs";
import chevronRight from "lucide-static/dist/esm/icons/chevron-right.mjs";
import circleCheck from "lucide-static/dist/esm/icons/circle-check.mjs";
import circleDashed from "lucide-static/dist/esm/icons/circle-dashed.mjs";
import circleMinus from "lucide-static/dist/esm/icons/circle-minus.mjs";
import circleQuestionMark from "lucide-static/dist/esm/icons/circle-question-mark.mjs";
import circleX from "lucide-static/dist/esm/icons/circle-x.mjs";
import clock from "lucide-static/dist/esm/icons/clock.mjs";
import container from "lucide-static/dist/esm/icons/container.mjs";
import copy from "lucide-static/dist/esm/icons/copy.mjs";
import ellipsis from "lucide-static/dist/esm/icons/ellipsis.mjs";
import externalLink from "lucide-static/dist/esm/icons/external-link.mjs";
import eye from "lucide-static/dist/esm/icons/eye.mjs";
import fileClock from "lucide-static/dist/esm/icons/file-clock.mjs";
import gitBranch from "lucide-static/dist/esm/icons/git-branch.mjs";
import house from "lucide-static/dist/esm/icons/house.mjs";
import info from "lucide-static/dist/esm/icons/info.mjs";
import keyRound from "lucide-static/dist/esm/icons/key-round.mjs";
import keyboard from "lucide-static/dist/esm/icons/keyboard.mjs";
import languages from "lucide-static/dist/esm/icons/languages.mjs";
import layers from "lucide-static/dist/esm/icons/layers.mjs";
import listChecks from "lucide-static/dist/esm/icons/list-checks.mjs";
import listFilter from "lucide-static/dist/esm/icons/list-filter.mjs";
import loaderCircle from "lucide-static/dist/esm/icons/loader-circle.mjs";
import lock from "lucide-static/dist/esm/icons/lock.mjs";
import logOut from "lucide-static/dist/esm/icons/log-out.mjs";
import menu from "lucide-static/dist/esm/icons/menu.mjs";
import monitor from "lucide-static/dist/esm/icons/monitor.mjs";
import moon from "lucide-static/dist/esm/icons/moon.mjs";
import packageBox from "lucide-static/dist/esm/icons/package.mjs";
import pause from "lucide-static/dist/esm/icons/pause.mjs";
import pencil from "lucide-static/dist/esm/icons/pencil.mjs";
import play from "lucide-static/dist/esm/icons/play.mjs";
import plug from "lucide-static/dist/esm/icons/plug.mjs";
import plus from "lucide-static/dist/esm/icons/plus.mjs";
import refreshCw from "lucide-static/dist/esm/icons/refresh-cw.mjs";
import rocket from "lucide-static/dist/esm/icons/rocket.mjs";
import rotateCcw from "lucide-static/dist/esm/icons/rotate-ccw.mjs";
import scrollText from "lucide-static/dist/esm/icons/scroll-text.mjs";
import search from "lucide-static/dist/esm/icons/search.mjs";
import send from "lucide-static/dist/esm/icons/send.mjs";
import server from "lucide-static/dist/esm/icons/server.mjs";
import settings from "lucide-static/dist/esm/icons/settings.mjs";
import shield from "lucide-static/dist/esm/icons/shield.mjs";
import sun from "lucide-static/dist/esm/icons/sun.mjs";
import tag from "lucide-static/dist/esm/icons/tag.mjs";
import target from "lucide-static/dist/esm/icons/target.mjs";
import trash from "lucide-static/dist/esm/icons/trash.mjs";
import triangleAlert from "lucide-static/dist/esm/icons/triangle-alert.mjs";
import undo2 from "lucide-static/dist/esm/icons/undo-2.mjs";
import user from "lucide-static/dist/esm/icons/user.mjs";
import webhook from "lucide-static/dist/esm/icons/webhook.mjs";
import x from "lucide-static/dist/esm/icons/x.mjs";

/**
 * The icons in use, from the package `lucide-static`: single files, because its index would load two thousand. To add one, import its file
 * and name it below. Only the content of `<svg>` is kept; `Icon` writes the frame.
 */
function shapes(svg: string): string {
  const start = svg.indexOf(">", svg.indexOf("<svg")) + 1;
  return svg
    .slice(start, svg.lastIndexOf("</svg>"))
    .replaceAll(/\s*\n\s*/g, "")
    .replaceAll(" />", "/>");
}

export const icons = {
  bell: shapes(bell),
  activity: shapes(activity),
  "arrow-down": shapes(arrowDown),
  "arrow-down-to-line": shapes(arrowDownToLine),
  "arrow-left": shapes(arrowLeft),
  "arrow-right": shapes(arrowRight),
  "arrow-up": shapes(arrowUp),

  box: shapes(box),
  "calendar-clock": shapes(calendarClock),
  "chart-column": shapes(chartColumn),
  check: shapes(check),
  "chevron-down": shapes(chevronDown),
  "chevron-left": shapes(chevronLeft),
  "chevron-right": shapes(chevronRight),
  "circle-check": shapes(circleCheck),
  "circle-dashed": shapes(circleDashed),
  "circle-minus": shapes(circleMinus),
  "circle-question-mark": shapes(circleQuestionMark),
  "circle-x": shapes(circleX),
  clock: shapes(clock),
  container: shapes(container),
  copy: shapes(copy),
  ellipsis: shapes(ellipsis),
  "external-link": shapes(externalLink),
  eye: shapes(eye),
  "file-clock": shapes(fileClock),
  "git-branch": shapes(gitBranch),
  house: shapes(house),
  info: shapes(info),
  "key-round": shapes(keyRound),
  keyboard: shapes(keyboard),
  languages: shapes(languages),
  layers: shapes(layers),
  "list-checks": shapes(listChecks),
  "list-filter": shapes(listFilter),
  "loader-circle": shapes(loaderCircle),
  lock: shapes(lock),
  "log-out": shapes(logOut),
  menu: shapes(menu),
  monitor: shapes(monitor),
  moon: shapes(moon),
  package: shapes(packageBox),
  pause: shapes(pause),
  pencil: shapes(pencil),
  play: shapes(play),
  plug: shapes(plug),
  plus: shapes(plus),
  "refresh-cw": shapes(refreshCw),
  rocket: shapes(rocket),
  "rotate-ccw": shapes(rotateCcw),
  "scroll-text": shapes(scrollText),
  search: shapes(search),
  send: shapes(send),
  server: shapes(server),
  settings: shapes(settings),
  shield: shapes(shield),
  sun: shapes(sun),
  tag: shapes(tag),
  target: shapes(target),
  trash: shapes(trash),
  "triangle-alert": shapes(triangleAlert),
  "undo-2": shapes(undo2),
  user: shapes(user),
  webhook: shapes(webhook),
  x: shapes(x),
};

export type IconName = keyof typeof icons;
