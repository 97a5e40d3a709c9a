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
 * and name it below. Only its outline is kept, `d` of one path: a list shows hundreds of icons, and browsers pay for every shape. `Icon`
 * writes the frame.
 */
function outline(svg: string): string {
  const shapes = svg.matchAll(/<(path|circle|rect|line|polyline)\b([^>]*)>/g);
  return [...shapes]
    .map(([, shape = "", attributes = ""]) => {
      const text = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "0";
      return pathOf(shape, text, (name) => Number(text(name)));
    })
    .join("");
}

function pathOf(shape: string, text: (name: string) => string, number: (name: string) => number): string {
  switch (shape) {
    case "circle": {
      const r = number("r");
      // What is filled is a dot: the stroke around it leaves a hole.
      const dot = text("fill") === "0" ? "" : `M${text("cx")} ${text("cy")}h.01`;
      return `${dot}M${number("cx") - r} ${number("cy")}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
    }
    case "rect": {
      const r = number("rx");
      const width = number("width") - 2 * r;
      const height = number("height") - 2 * r;
      const corner = (x: number, y: number) => `a${r} ${r} 0 0 1 ${x} ${y}`;
      const right = `h${width}${corner(r, r)}v${height}${corner(-r, r)}`;
      return `M${number("x") + r} ${number("y")}${right}h${-width}${corner(-r, -r)}v${-height}${corner(r, -r)}z`;
    }
    case "line":
      return `M${text("x1")} ${text("y1")}L${text("x2")} ${text("y2")}`;
    case "polyline":
      return `M${text("points")}`;
    default:
      // A relative start would count from the end of the shape before.
      return text("d")
        .replace(/^m\s*(-?[\d.]+)[\s,]*(-?[\d.]+)(?=[\s,]*[-\d.])/, "M$1 $2l")
        .replace(/^m/, "M");
  }
}

export const icons = {
  bell: outline(bell),
  activity: outline(activity),
  "arrow-down": outline(arrowDown),
  "arrow-down-to-line": outline(arrowDownToLine),
  "arrow-left": outline(arrowLeft),
  "arrow-right": outline(arrowRight),
  "arrow-up": outline(arrowUp),

  box: outline(box),
  "calendar-clock": outline(calendarClock),
  "chart-column": outline(chartColumn),
  check: outline(check),
  "chevron-down": outline(chevronDown),
  "chevron-left": outline(chevronLeft),
  "chevron-right": outline(chevronRight),
  "circle-check": outline(circleCheck),
  "circle-dashed": outline(circleDashed),
  "circle-minus": outline(circleMinus),
  "circle-question-mark": outline(circleQuestionMark),
  "circle-x": outline(circleX),
  clock: outline(clock),
  container: outline(container),
  copy: outline(copy),
  ellipsis: outline(ellipsis),
  "external-link": outline(externalLink),
  eye: outline(eye),
  "file-clock": outline(fileClock),
  "git-branch": outline(gitBranch),
  house: outline(house),
  info: outline(info),
  "key-round": outline(keyRound),
  keyboard: outline(keyboard),
  languages: outline(languages),
  layers: outline(layers),
  "list-checks": outline(listChecks),
  "list-filter": outline(listFilter),
  "loader-circle": outline(loaderCircle),
  lock: outline(lock),
  "log-out": outline(logOut),
  menu: outline(menu),
  monitor: outline(monitor),
  moon: outline(moon),
  package: outline(packageBox),
  pause: outline(pause),
  pencil: outline(pencil),
  play: outline(play),
  plug: outline(plug),
  plus: outline(plus),
  "refresh-cw": outline(refreshCw),
  rocket: outline(rocket),
  "rotate-ccw": outline(rotateCcw),
  "scroll-text": outline(scrollText),
  search: outline(search),
  send: outline(send),
  server: outline(server),
  settings: outline(settings),
  shield: outline(shield),
  sun: outline(sun),
  tag: outline(tag),
  target: outline(target),
  trash: outline(trash),
  "triangle-alert": outline(triangleAlert),
  "undo-2": outline(undo2),
  user: outline(user),
  webhook: outline(webhook),
  x: outline(x),
};

export type IconName = keyof typeof icons;
