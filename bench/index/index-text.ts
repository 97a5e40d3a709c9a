/** How many charts and how many versions of each: 40,000 in all, some 60 MB. */
const charts = 400;
const versionsPerChart = 100;

function hex(seed: number): string {
  let state = seed >>> 0;
  let text = "";
  while (text.length < 64) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += state.toString(16).padStart(8, "0");
  }
  return text;
}

function annotations(chart: number, version: number): string {
  return `    annotations:
      artifacthub.io/changes: |
        - kind: changed
          description: "Update the application to 2.${version}.0, which reads: settings from files"
        - kind: fixed
          description: Wait until the database answers
      artifacthub.io/images: |
        - name: app
          image: registry.example/team-${chart}/app:2.${version}.0
        - name: metrics
          image: registry.example/team-${chart}/metrics-exporter:1.${version}.3
      category: Infrastructure
      licenses: Apache-2.0
`;
}

/** One version as `helm repo index` writes it; chart and version make every digest another. */
function entry(chart: number, version: number): string {
  const name = `chart-${chart}`;
  return `  - ${annotations(chart, version).trimStart()}    apiVersion: v2
    appVersion: 2.${version}.0
    created: "2026-0${1 + (version % 9)}-1${version % 10}T08:0${version % 10}:21.${100_000_000 + version}Z"
    dependencies:
    - condition: postgresql.enabled
      name: postgresql
      repository: https://charts.example/stable
      version: 15.x.x
    - name: common
      repository: https://charts.example/stable
      tags:
      - infrastructure
      version: 2.x.x
    description: A chart that installs the application ${chart} with its database, and with
      "metrics" for those who want them
    digest: ${hex(chart * 1_000 + version)}
    home: https://example.com/apps/${name}
    icon: https://example.com/static/icons/${name}-stack-220x234.png
    keywords:
    - application
    - database
    - metrics
    kubeVersion: '>=1.23.0-0'
    maintainers:
    - email: team-${chart}@example.com
      name: Team ${chart}
      url: https://example.com/teams/${chart}
    name: ${name}
    sources:
    - https://example.com/git/${name}
    urls:
    - https://charts.example/stable/${name}-1.${version}.0.tgz
    version: 1.${version}.0
`;
}

/** The index in pieces: whole it would be larger than what is measured. */
export function* indexPieces(): Generator<string> {
  yield "apiVersion: v1\nentries:\n";
  for (let chart = 0; chart < charts; chart++) {
    yield `  chart-${chart}:\n`;
    for (let version = versionsPerChart - 1; version >= 0; version--) yield entry(chart, version);
  }
  yield 'generated: "2026-11-01T00:00:00Z"\n';
}

/** A chart in the middle. */
export const measuredChart = `chart-${charts / 2}`;
