import { type CsvCell, csvBom, csvRow, csvRows } from '../core/text/csv.ts'
import { textStream } from './text-stream.ts'

/** A CSV download of any length, a page of rows at a time; see `textStream`. */
export function csvStream<Row>(
  header: readonly string[],
  pages: AsyncIterable<readonly Row[]>,
  cellsOf: (row: Row) => readonly CsvCell[],
  options: { bom: boolean; onBroken(error: unknown): void },
): ReadableStream<Uint8Array> {
  async function* pieces() {
    yield (options.bom ? csvBom : '') + csvRow(header)
    for await (const rows of pages) yield csvRows(rows.map(cellsOf))
  }
  return textStream(pieces(), options.onBroken)
}
