// A chart repository's index of 60 MB, read as a check reads it: over HTTP, through the bounded fetch. See README.md.
import { type Cost, startChild } from "./child.ts";
import { countOption, type Figure, median, megabytes, ms, printFigures } from "./figures.ts";

const rounds = countOption("rounds", 5, 50);

interface Answer extends Cost {
  idle_bytes: number;
  peak_bytes: number;
  bytes: number;
  versions: number;
}

const goals = { memory: 64e6, stall: 50 };

/** One form of the index, in processes of its own: memory that was used once is rarely given back. */
async function measure(form: string, title: string): Promise<void> {
  const server = startChild("index/server.ts");
  const reader = startChild("index/reader.ts");
  try {
    const { url, size } = await server.ask<{ url: string; size: number }>({ form });
    const answers: Answer[] = [];
    for (let round = 0; round < rounds; round++) answers.push(await reader.ask<Answer>({ url }));
    const above = Math.max(...answers.map((answer) => answer.peak_bytes)) - (answers[0]?.idle_bytes ?? 0);
    const stall = Math.max(...answers.map((answer) => answer.stall_ms));
    const figures: Figure[] = [
      { what: "size of the index, as sent", measured: `${megabytes(size)}, ${megabytes(answers[0]?.bytes ?? 0)}` },
      { what: "versions of the chart", measured: String(answers[0]?.versions) },
      {
        what: "peak memory above idle",
        measured: megabytes(above),
        goal: megabytes(goals.memory),
        met: above <= goals.memory,
      },
      {
        what: "longest stall of the event loop",
        measured: ms(stall),
        goal: ms(goals.stall),
        met: stall <= goals.stall,
      },
      { what: "time, median", measured: ms(median(answers.map((answer) => answer.wall_ms))) },
      { what: "CPU, median", measured: ms(median(answers.map((answer) => answer.cpu_ms))) },
    ];
    printFigures(`${title}, ${rounds} checks one after the other`, figures);
  } finally {
    await reader.stop();
    await server.stop();
  }
}

await measure("yaml", "index.yaml as helm writes it");
await measure("gzip", "the same, sent with gzip");
await measure("json", "the same as JSON");
