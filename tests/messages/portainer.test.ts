import { expect, test } from "bun:test";
import { inEnglish, say } from "../../src/messages/message.ts";

test.each([
  [0, 1, "1 variable differs"],
  [1, 0, "1 line differs"],
  [2, 0, "2 lines differ"],
  [1, 1, "1 line and 1 variable differ"],
])("a saved stack file with %i other lines and %i other variables: %s", (lines, variables, words) => {
  expect(inEnglish(say("portainer.whole_file", { lines, variables }))).toEndWith(`saved: ${words}`);
});
