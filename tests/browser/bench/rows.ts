/** Rows of the benchmarks, one JSON object a line, in the file that `LORE_BENCH_ROWS` names. */
import { appendFileSync } from 'node:fs';

const file = process.env['LORE_BENCH_ROWS'];
/** Fewer rounds and smaller cases. */
export const quick = process.env['LORE_BENCH_QUICK'] !== undefined;

/** Adds lines of rows as they are. */
export function append(lines: string): void {
  if (file === undefined) throw new Error('run this through `cargo xtask bench`');
  appendFileSync(file, lines);
}

/** A measurement with the spread over its samples; `value` is the quantile that `metric` names. */
export function row(
  bench: string,
  case_: string,
  metric: string,
  unit: string,
  value: number,
  samples: readonly number[] = [value],
  who = 'lorekeeper',
): void {
  const rounded = (number: number) => Math.round(number * 1000) / 1000;
  append(
    `${JSON.stringify({
      bench,
      case: case_,
      who,
      metric,
      unit,
      value: rounded(value),
      min: rounded(Math.min(...samples)),
      max: rounded(Math.max(...samples)),
      n: samples.length,
    })}\n`,
  );
}

/** A row for who could not be measured. */
export function missing(bench: string, case_: string, who: string, why: string): void {
  append(`${JSON.stringify({ bench, case: case_, who, metric: '', unit: '', value: null, n: 0, why })}\n`);
}

/** The sample below which `share` of all lie. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
