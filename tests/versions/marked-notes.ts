/** Notes in the forms of well-known projects and tools, with what a careful administrator marks in them. */
export const markedNotes: readonly {
  form: string;
  notes: string;
  breaking: readonly string[];
  security: readonly string[];
  ids?: readonly string[];
}[] = [
  {
    form: "release-please",
    notes: `## [17.0.0](https://forge.test/acme/app/compare/v16.2.0...v17.0.0) (2026-05-02)


### ⚠ BREAKING CHANGES

* **node:** drop Node 10 (#1919)
* private methods are now private
* #1823 contains the following breaking API changes:
    * now returns a promise if the handler is async.
    * \`onFinish\` removed, in favour of awaiting the promise.

### Features

* add commands alias ([#1850](https://forge.test/acme/app/issues/1850))

### Bug Fixes

* the parser was breaking types ([2253284](https://forge.test/acme/app/commit/2253284))
`,
    breaking: [
      "node: drop Node 10 (#1919)",
      "private methods are now private",
      "now returns a promise if the handler is async.",
      "onFinish removed, in favour of awaiting the promise.",
    ],
    security: [],
  },
  {
    form: "lists in lists, as Gitea writes them",
    notes: `## [1.10.0](https://forge.test/releases/tag/v1.10.0) - 2026-10-14
* BREAKING
  * Remove the legacy handling of tokens (#8191)
  * Search topics by exact match (#7941)
* FEATURE
  * Show differences side by side (#6784)
* BUGFIXES
  * Fix error 500 caused by fetch breaking behaviors (#8161)
* SECURITY
  * Ignore mentions by users without access (#8395)
  * Be strict about arguments of git (#7715)
* BUILD
  * Update the linter (#8432)
`,
    breaking: ["Remove the legacy handling of tokens (#8191)", "Search topics by exact match (#7941)"],
    security: ["Ignore mentions by users without access (#8395)", "Be strict about arguments of git (#7715)"],
  },
  {
    form: "headings below the heading, as Angular writes them",
    notes: `<a name="16.0.0"></a>
# 16.0.0 (2026-03-08)
## Breaking Changes
### common
- The export \`XhrFactory\` has been removed.
### core
- Versions \`0.11.x\` of \`zone.js\` are not supported any more.

  Update it first.
### server
The old renderer is gone. Use the new one.
## Deprecations
### browser
- \`Config\` has moved.
`,
    breaking: [
      "The export XhrFactory has been removed.",
      "Versions 0.11.x of zone.js are not supported any more.",
      "The old renderer is gone. Use the new one.",
    ],
    security: [],
  },
  {
    form: "entries with brackets, as Prometheus writes them",
    notes: `This release fixes multiple security issues.

- [SECURITY] UI: Fix stored XSS through unescaped labels. CVE-2026-40179. #18507
- [SECURITY] Remote read: reject oversized requests. GHSA-8rm2-7qqf-34qm / CVE-2026-42154 #18584
- [CHANGE] API: Use SHA-256 for tokens. #18927
- [ENHANCEMENT] Images are also published elsewhere. #18792
`,
    breaking: [],
    security: [
      "This release fixes multiple security issues.",
      "SECURITY UI: Fix stored XSS through unescaped labels. CVE-2026-40179. #18507",
      "SECURITY Remote read: reject oversized requests. GHSA-8rm2-7qqf-34qm / CVE-2026-42154 #18584",
    ],
    ids: ["CVE-2026-40179", "GHSA-8rm2-7qqf-34qm", "CVE-2026-42154"],
  },
  {
    form: "a security release of Node.js",
    notes: `## 2026-07-15, Version 22.17.1 (LTS)

This is a security release.

### Notable Changes

* (CVE-2025-27210) Device names bypass the protection of \`normalize()\`

### Commits

* \\[[\`8cf5d66ab7\`](https://forge.test/commit/8cf5d66ab7)] - **(CVE-2025-27210)** **lib**: handle all reserved names
* \\[[\`9c0cb487ec\`](https://forge.test/commit/9c0cb487ec)] - **win,build**: fix compilation
`,
    breaking: [],
    security: [
      "This is a security release.",
      "(CVE-2025-27210) Device names bypass the protection of normalize()",
      "[8cf5d66ab7 - (CVE-2025-27210) lib: handle all reserved names",
    ],
    ids: ["CVE-2025-27210"],
  },
  {
    form: "Keep a Changelog",
    notes: `## [1.2.0] - 2026-04-01

### Added

- A new form.

### Security

- The address of a link can no longer run a script.

### Removed

- **Breaking:** the old form.
`,
    breaking: ["Breaking: the old form."],
    security: ["The address of a link can no longer run a script."],
  },
  {
    form: "release-drafter with wide lists, as Paperless writes them",
    notes: `### Breaking Changes

-   Fix: restore the expected offset [@one](https://forge.test/one) ([#10218](https://forge.test/pull/10218))

### Features / Enhancements

-   Feature: add a translation ([#10183](https://forge.test/pull/10183))

### All App Changes

<details>
<summary>2 changes</summary>

-   [BREAKING] Change: treat created as a date ([#9793](https://forge.test/pull/9793))
-   Chore: bump a library ([#10212](https://forge.test/pull/10212))
</details>
`,
    breaking: ["Fix: restore the expected offset @one (#10218)", "BREAKING Change: treat created as a date (#9793)"],
    security: [],
  },
  {
    form: "conventional commits",
    notes: `## What's Changed
* feat(api)!: remove v1 by @one in https://forge.test/pull/2
* fix: stop breaking long lines by @two in https://forge.test/pull/3
* Warning!: not a commit
* ci: vulnerability scan of images in https://forge.test/pull/4

**Full Changelog**: https://forge.test/compare/v1...v2
`,
    breaking: ["feat(api)!: remove v1 by @one in https://forge.test/pull/2"],
    security: [],
  },
  {
    form: "Chinese notes",
    notes: `## 不兼容的变更

- 配置文件改名

## 安全

- 修复越权访问

## 修复

- 没有不兼容的变更
`,
    breaking: ["配置文件改名"],
    security: ["修复越权访问"],
  },
];
