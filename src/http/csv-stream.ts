import { type CsvCell, csvBom, csvRow, csvRows } from '../core/csv.ts'

/**
 * A CSV download of any length: a page of rows is read when the client has taken the one before,
 * so memory stays constant. A failure midway breaks the connection, because an export that ends
 * early must not look whole. (A generator handed to Elysia would be closed as if nothing had
 * happened.) A client that goes away has broken nothing.
 */
export function csvStream<Row>(
  header: readonly string[],
  pages: AsyncIterable<readonly Row[]>,
  cellsOf: (row: Row) => readonly CsvCell[],
  options: { bom: boolean; onBroken(error: unknown): void },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const iterator = pages[Symbol.asyncIterator]()
  let isStarted = false
  let isGone = false
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (!isStarted) {
          isStarted = true
          controller.enqueue(encoder.encode((options.bom ? csvBom : '') + csvRow(header)))
          return
        }
        try {
          const { done, value } = await iterator.next()
          if (isGone) return
          if (done) controller.close()
          else controller.enqueue(encoder.encode(csvRows(value.map(cellsOf))))
        } catch (error) {
          options.onBroken(error)
          controller.error(error)
        }
      },
      async cancel() {
        isGone = true
        await iterator.return?.()
      },
    },
    { highWaterMark: 1 },
  )
}

/** The body of a download that is only asked about (HEAD): its length is not known, so none is told. */
export function unreadStream(): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.close()
      },
    },
    // Closed only when somebody reads after all: closed at once, its length would be told as 0.
    { highWaterMark: 0 },
  )
}
