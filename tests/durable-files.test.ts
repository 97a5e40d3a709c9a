import { expect, test } from "bun:test";
import { isDiskFull, withoutRoom } from "../src/durable-files.ts";
import { AppError } from "../src/errors.ts";
import { plain, say } from "../src/messages/message.ts";

const withCode = (message: string, code: string) => Object.assign(new Error(message), { code });

test.each([
  ["the code among the words", withCode("ENOSPC: no space left on device, write", "ENOSPC"), true],
  ["the code beside the words", withCode("No space left on device (os error 28)", "ENOSPC"), true],
  ["the words of the database", withCode("SQLITE_FULL: database or disk is full", "SQLITE_FULL"), true],
  ["its words alone", "SQLITE_FULL: database or disk is full", true],
  ["another failure", withCode("EACCES: permission denied, open", "EACCES"), false],
] as const)("whether the disk is full, by %s", (_, error, expected) => {
  expect(isDiskFull(error)).toBe(expected);
});

test("a full disk becomes 507 with what was written, anything else stays as it is", () => {
  const said = say("files.no_room_for_backup");
  const full = withCode("No space left on device (os error 28)", "ENOSPC");
  expect(withoutRoom(full, said)).toMatchObject({
    status: 507,
    code: "insufficient_storage",
    said,
    cause: full,
  });
  const refused = withCode("EACCES: permission denied, open", "EACCES");
  const told = new AppError("insufficient_storage", 507, plain("ENOSPC"));
  expect([withoutRoom(refused, said), withoutRoom(told, said)]).toEqual([refused, told]);
});
