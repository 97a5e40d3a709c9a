import { describe, expect, test } from "bun:test";
import { Parser } from "htmlparser2";
import { cachedNotesCount, renderNotes } from "../../../src/http/pages/render-notes.ts";

const elements = new Set(
  "h1 h2 h3 h4 h5 h6 p a ul ol li blockquote code pre em strong del hr br table thead tbody tfoot tr th td kbd sup sub details summary".split(
    " ",
  ),
);
const attributes = new Set(["href", "title", "rel", "align", "start"]);

/** What a browser would make of the markup beyond the allow list: elements, attributes and addresses that must not be there. */
function live(html: string): string[] {
  const found: string[] = [];
  const parser = new Parser(
    {
      onopentag(name, attribs) {
        if (!elements.has(name)) found.push(`<${name}>`);
        for (const [key, value] of Object.entries(attribs)) {
          if (!attributes.has(key)) found.push(`${name} ${key}`);
          if (key === "href" && !/^https?:\/\//.test(value)) found.push(`href ${value}`);
          if (key === "rel" && value !== "noopener noreferrer nofollow") found.push(`rel ${value}`);
        }
        if (name === "a" && attribs.href !== undefined && attribs.rel === undefined) found.push("a without rel");
      },
      oncomment: (text) => found.push(`<!--${text}`),
      onprocessinginstruction: (name) => found.push(`<${name}`),
    },
    { decodeEntities: true },
  );
  parser.end(html);
  return found;
}

describe("renderNotes() leaves nothing live of", () => {
  test.each([
    ["<script>alert(1)</script>"],
    ["<SCRIPT SRC=https://evil.test/x.js></SCRIPT>"],
    ["<scr<script>ipt>alert(1)</scr</script>ipt>"],
    ["<script\n>alert(1)</script\n>"],
    ["<script>/* unclosed"],
    ["<<script>script>alert(1)<</script>/script>"],
    ["<img src=x onerror=alert(1)>"],
    ["<img src='https://evil.test/pixel.png'>"],
    ["<img srcset='https://evil.test/1x 1x'>"],
    ["![pixel](https://evil.test/pixel.png)"],
    ['![x](https://evil.test/x "onerror=alert(1)")'],
    ["![x](javascript:alert(1))"],
    ["<picture><source srcset=https://evil.test/x></picture>"],
    ["<video src=https://evil.test/x autoplay onplay=alert(1)></video>"],
    ["<audio src=https://evil.test/x></audio>"],
    ["<svg onload=alert(1)><script>alert(1)</script></svg>"],
    ["<svg><a xlink:href='javascript:alert(1)'><text>x</text></a></svg>"],
    ["<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>"],
    ["<iframe src=https://evil.test></iframe>"],
    ["<iframe srcdoc='<script>alert(1)</script>'></iframe>"],
    ["<object data=https://evil.test></object>"],
    ["<embed src=https://evil.test>"],
    ["<form action=https://evil.test><input name=password><button>Go</button></form>"],
    ["<button formaction=javascript:alert(1)>x</button>"],
    ["<input autofocus onfocus=alert(1)>"],
    ["<textarea><script>alert(1)</script></textarea>"],
    ["<select><option>x</select>"],
    ["<base href=https://evil.test/>"],
    ["<meta http-equiv=refresh content='0;url=https://evil.test'>"],
    ["<link rel=stylesheet href=https://evil.test/x.css>"],
    ["<style>body{display:none}</style>"],
    ["<style>@import 'https://evil.test/x.css';</style>"],
    ["<p style='position:fixed;inset:0'>x</p>"],
    ["<p class='btn' id='tracker-body'>x</p>"],
    ["<p data-confirm='x'>x</p>"],
    ["<a href='#' id=dialog class=btn>x</a>"],
    ["<p hx-get='/trackers' hx-trigger='load'>x</p>"],
    ["<p data-hx-post='/trackers/web/delete' data-hx-trigger='load'>x</p>"],
    ["<p hx-on:click='alert(1)'>x</p>"],
    ["<hx-partial hx-target='body'>x</hx-partial>"],
    ["<template><script>alert(1)</script></template>"],
    ["<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>"],
    ["<a href='javascript:alert(1)'>x</a>"],
    ["<a href='JaVaScRiPt:alert(1)'>x</a>"],
    ["<a href=' javascript:alert(1)'>x</a>"],
    ["<a href='java\tscript:alert(1)'>x</a>"],
    ["<a href='java&#10;script:alert(1)'>x</a>"],
    ["<a href='&#106;avascript:alert(1)'>x</a>"],
    ["<a href='&#x6A;&#x61;vascript&colon;alert(1)'>x</a>"],
    ["<a href='data:text/html,<script>alert(1)</script>'>x</a>"],
    ["<a href='vbscript:x'>x</a>"],
    ["<a href='file:///etc/passwd'>x</a>"],
    ["<a href='//evil.test/x'>x</a>"],
    ["<a href='/\\evil.test'>x</a>"],
    ["<a href='/trackers/web/delete'>x</a>"],
    ["<a href='HTTPS:evil.test'>x</a>"],
    ["<a href='https:evil.test'>x</a>"],
    ["<a href='https://ok.test' onclick='alert(1)' target=_blank ping=https://evil.test>x</a>"],
    ["<a href='https://ok.test' rel='opener'>x</a>"],
    ["[x](javascript:alert(1))"],
    ["[x](JAVASCRIPT:alert(1))"],
    ["[x](java&#115;cript:alert(1))"],
    ["[x](<javascript:alert(1)>)"],
    ["[x](data:text/html;base64,PHNjcmlwdD4=)"],
    ["[x](vbscript:x)"],
    ["[x](//evil.test)"],
    ["[x](/trackers)"],
    ["[x](../delete)"],
    ["[x](#top)"],
    ['[x](https://ok.test "a\\" onclick=\\"alert(1)")'],
    ["[x](https://ok.test'onclick='alert(1))"],
    ["[x]: javascript:alert(1)\n\n[x]"],
    ["<javascript:alert(1)>"],
    ['<https://ok.test/"onmouseover=alert(1)>'],
    ["`<script>alert(1)</script>`"],
    ["```html\n<script>alert(1)</script>\n```"],
    ['```"><script>alert(1)</script>\ncode\n```'],
    ["    <script>alert(1)</script>"],
    ["# <img src=x onerror=alert(1)>"],
    ["| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |"],
    ["<table background=https://evil.test><td onclick=alert(1) align='x\" onclick=alert(1)'>x</table>"],
    ["<details open ontoggle=alert(1)><summary onclick=alert(1)>x</summary></details>"],
    ["<!-- comment --><p>x</p>"],
    ["<!--[if IE]><script>alert(1)</script><![endif]-->"],
    ["<!--><script>alert(1)</script>-->"],
    ["<?xml version='1.0'?><p>x</p>"],
    ["<!DOCTYPE html><p>x</p>"],
    ["<![CDATA[<script>alert(1)</script>]]>"],
    ["</div></main></body><script>alert(1)</script>"],
    ['<p title="--!><img src=x onerror=alert(1)>">x</p>'],
    ["&lt;script&gt;alert(1)&lt;/script&gt;"],
    ["&amp;lt;script&amp;gt;"],
    ["<a title='\"><script>alert(1)</script>' href=https://ok.test>x</a>"],
    ["<marquee onstart=alert(1)>x</marquee>"],
    ["<custom-element onclick=alert(1)>x</custom-element>"],
    ["<p\u0000onclick=alert(1)>x</p>"],
    ["<scr\u0000ipt>alert(1)</script>"],
    ["\u202E<script>alert(1)</script>"],
    ["<a href='https://ok.test\u0000javascript:'>x</a>"],
    [`${">".repeat(20_000)} x`],
    [`${"> ".repeat(20_000)}<script>alert(1)</script>`],
    [`${"<b>".repeat(20_000)}x`],
    [`${"<blockquote>".repeat(5_000)}<script>alert(1)</script>`],
    [`${"- ".repeat(10_000)}x`],
    [`${"[".repeat(20_000)}x`],
    [`${"<a href='javascript:1'>".repeat(2_000)}x`],
    [`${"*a **b ".repeat(5_000)}`],
    [`${"\u0000".repeat(1_000)}<script>alert(1)</script>`],
  ])("%p", async (notes) => {
    expect(live(await renderNotes(notes))).toEqual([]);
  });
});

describe("renderNotes()", () => {
  test.each([
    ["**b** *e* ~~d~~ `c`", "<p><strong>b</strong> <em>e</em> <del>d</del> <code>c</code></p>\n"],
    ["# One", "<h4>One</h4>\n"],
    ["### Three", "<h6>Three</h6>\n"],
    ["3. a\n4. b", '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>\n'],
    ["- [ ] a\n- [x] b", "<ul>\n<li>☐ a</li>\n<li>☑ b</li>\n</ul>\n"],
    ["a <kbd>K</kbd> H<sub>2</sub> x<sup>2</sup>", "<p>a <kbd>K</kbd> H<sub>2</sub> x<sup>2</sup></p>\n"],
    ["[relative](/docs) text", "<p>relative text</p>\n"],
    ["![a picture](https://x.test/y.png)", "<p>a picture</p>\n"],
    [
      "[x](https://a.test/?b=1&c=2)",
      '<p><a href="https://a.test/?b=1&amp;c=2" rel="noopener noreferrer nofollow">x</a></p>\n',
    ],
    ["https://a.test", '<p><a href="https://a.test" rel="noopener noreferrer nofollow">https://a.test</a></p>\n'],
    ["```js\nlet a;\n```", "<pre><code>let a;\n</code></pre>\n"],
    ["<details><summary>S</summary>\n\nx\n\n</details>", "<details><summary>S</summary><p>x</p>\n</details>"],
    ["", ""],
  ])("%p becomes %p", async (notes, html) => expect(await renderNotes(notes)).toBe(html));

  test("keeps a table's alignment", async () => {
    expect(await renderNotes("|a|\n|-:|\n|1|")).toContain('<td align="right">1</td>');
  });

  test("renders long notes in parts with the links that are defined at their end", async () => {
    const list = Array.from({ length: 400 }, (_, n) => `- change ${n} of [the tool][t]\n`).join("\n");
    const html = await renderNotes(`${list}\n\n[t]: https://tool.test\n`);
    expect(html.match(/<li>/g)).toHaveLength(400);
    expect(html.match(/<a href="https:\/\/tool.test"/g)).toHaveLength(400);
  });

  test("shows at most 256 KiB", async () => {
    const html = await renderNotes(`${"a b\n\n".repeat(60_000)}the end`);
    expect(html).not.toContain("the end");
  });

  test("keeps a bounded number of texts", async () => {
    for (let n = 0; n < 150; n += 1) await renderNotes(`text ${n}`);
    expect(cachedNotesCount()).toBeLessThanOrEqual(100);
    expect(await renderNotes("text 149")).toBe("<p>text 149</p>\n");
  });
});
