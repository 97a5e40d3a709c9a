/** Of a whole page: what its policy refuses or what needs `eval`, ids that are there twice, and forms that change something without their token. */
export function htmlFaults(html: string): string[] {
  const refused = [
    /\sstyle="/,
    /\son\w+="/,
    /\shx-on/,
    /"\s*(?:js|javascript):/,
    /hx-trigger="[^"]*\[/,
    /<script(?![^>]*\ssrc=)/,
  ];
  const scripts = [...html.matchAll(/<script[^>]*>([^<]+)/g)].map(([script]) => script);
  // What a template has is not in the page.
  const ids = [...html.replaceAll(/<template[\s\S]*?<\/template>/g, "").matchAll(/\sid="([^"]*)"/g)].map(
    ([, id = ""]) => id,
  );
  const forms = html.match(/<form[^>]*method="post"[\s\S]*?<\/form>/g) ?? [];
  return [
    ...refused.flatMap((pattern) => html.match(pattern)?.[0] ?? []),
    ...scripts,
    ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `id="${id}" twice`),
    ...forms.filter((form) => !form.includes('name="csrf_token"')),
  ];
}
