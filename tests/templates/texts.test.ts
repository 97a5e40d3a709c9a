import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { fields } from "../../src/forms/fields.ts";
import { plain, say } from "../../src/messages/message.ts";
import * as en from "../../templates/texts/en.ts";
import { fieldWords, untranslatedFields } from "../../templates/texts/fields.ts";
import { translateMessage, translatePart, translateSentence } from "../../templates/texts/messages.ts";
import { texts } from "../../templates/texts/texts.ts";
import { fields as chineseFields } from "../../templates/texts/zh/fields.ts";
import * as zh from "../../templates/texts/zh.ts";

/** `["common.save", "Save"]`, for every text; functions stay functions. */
function flat(node: object, prefix = ""): readonly (readonly [string, unknown])[] {
  return Object.entries(node).flatMap(([key, value]) =>
    typeof value === "object" && value !== null
      ? flat(value, `${prefix}${key}.`)
      : [[`${prefix}${key}`, value] as const],
  );
}

const english = new Map(flat(en));
const chinese = new Map(flat(zh));
/** Names that Chinese readers write in Latin letters too, alone or joined. */
const properName =
  /^(?:(?:Tidemark|English|GitHub|GitLab|Gitea|Forgejo|Helm|OCI|Docker|Podman|Kubernetes|Portainer|Engine|Enterprise|Server|Webhook|OIDC|API|HTTP|HTTPS|TCP|TLS|URL|ID|GET|HEAD|UTC)[ /,]*)+$/;

describe("texts()", () => {
  test("has the same keys in both languages", () => {
    expect([...chinese.keys()].toSorted()).toEqual([...english.keys()].toSorted());
  });

  test.each([...english.keys()])("%s is of one kind in both languages", (key) => {
    const [a, b] = [english.get(key), chinese.get(key)];
    expect(typeof b).toBe(typeof a);
    if (typeof a === "function" && typeof b === "function") expect(b.length).toBe(a.length);
  });

  test.each([...chinese].filter(([, value]) => typeof value === "string" && !properName.test(value)))(
    "%s is Chinese",
    (_, value) => {
      expect(String(value)).toMatch(/\p{Script=Han}/u);
    },
  );

  test("no text is blank", () => {
    expect([...english, ...chinese].filter(([, value]) => value === "")).toEqual([]);
  });

  test("what a person makes is added, in every text", () => {
    const otherVerbs = [
      /(?:^|[`"])(?:New (?:API token|connection|credential|executor|notifier|tracker)|Created?)\b/,
      /\bcreat(?:e|es|ed|ing) (?:an? |the |selected )?(?:API token|connection|credential|executor|notifier|provider|tracker)/i,
      /(?:新建|创建)(?:所选)? ?(?:API 令牌|备份|登录提供方|连接|凭据|通知|执行器|追踪器)/,
      /(?:API 令牌|连接|凭据|通知|执行器|提供方|追踪器)已?(?:新建|创建)/,
    ];
    const mixed = [...english, ...chinese].filter(([, value]) => otherVerbs.some((verb) => verb.test(String(value))));
    expect(mixed).toEqual([]);
  });

  test("counts in the words of the language", () => {
    expect(texts({ language: "en" }).common.form.error_count(1)).toStartWith("1 field needs ");
    expect(texts({ language: "en" }).common.form.error_count(3)).toStartWith("3 fields need ");
    expect(texts({ language: "zh" }).common.form.error_count(3)).toBe("有 3 个字段需要修改");
  });
});

describe("fieldWords()", () => {
  const schema = v.object({
    name: v.pipe(v.string(), v.title("Name")),
    oddity: v.pipe(v.string(), v.title("Oddity"), v.description("Help")),
  });
  const [name, oddity] = fields(schema);

  test("takes English from the schema and Chinese from the dictionary", () => {
    if (name === undefined) throw new Error("The schema has a name");
    expect(fieldWords("en", "x", name).title).toBe("Name");
    expect(fieldWords("zh", "x", name).title).toBe("名称");
  });

  test("untranslatedFields() names what has no Chinese words", () => {
    expect(untranslatedFields("x", oddity === undefined || name === undefined ? [] : [name, oddity])).toEqual([
      "x.oddity",
    ]);
  });
});

describe("a message on a page", () => {
  const failed = say("backups.correct_and_repeat", { cause: say("backups.keys_kept_changing") });

  test("ends its last sentence where it has several", () => {
    expect(translateMessage("en", failed)).toEndWith("Correct this, then run this again.");
    expect(translateMessage("zh", failed)).toEndWith("请排除问题，然后再次运行。");
    expect(translateMessage("en", say("backups.in_progress"))).toBe(
      "A backup is already in progress; wait until it ends",
    );
    expect(translateMessage("en", plain("Theirs. Not ours"))).toBe("Theirs. Not ours");
  });

  test("ends as a sentence of its own, unless others wrote it", () => {
    expect(translateSentence("en", say("backups.in_progress"))).toEndWith("wait until it ends.");
    expect(translateSentence("zh", say("backups.in_progress"))).toEndWith("请等待它结束。");
    expect(translateSentence("en", plain("Theirs"))).toBe("Theirs");
  });

  test("begins in lower case inside a sentence of the page", () => {
    expect(translatePart("en", say("net.timed_out", { host: "a.test", seconds: 5 }))).toStartWith("request to ");
    expect(translatePart("en", say("sources.github_error", { said: "" }))).toStartWith("GitHub ");
    expect(translatePart("en", plain("Theirs"))).toBe("Theirs");
  });
});

test.each(["en", "zh"] as const)("a skipped run says only once that it was skipped: %s", (language) => {
  const repeated = Object.values(texts({ language }).runs.skips).filter(
    (words) => words.match(/skipped|跳过/gi)?.length !== 1,
  );
  expect(repeated).toEqual([]);
});

test("the releases that an executor follows have one heading in Chinese, for a container and for a group", () => {
  expect(chineseFields["executors.bindings"]?.title).toBe(zh.executors.groups.releases);
});

test.each([
  [1, 1, "It has no source"],
  [1, 2, "1 of them has no source"],
  [2, 3, "2 of them have no source"],
  [3, 3, "None of them has a source"],
])("%d of %d safe updates without notes: %s", (count, all, said) => {
  expect(texts({ language: "en" }).bulk.safe_without_notes(count, all)).toStartWith(said);
});
