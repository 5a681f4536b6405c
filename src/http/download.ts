import { type CsvCell, csvBom, csvRow, csvRows } from '../core/text/csv.ts'

/**
 * A download of any length. A piece is read once the client has taken the one before, so memory stays
 * constant. A failure midway breaks the connection, because a truncated download must not look complete.
 * (Elysia would close a generator as if nothing had happened.) A client that goes away does not count as a
 * failure.
 */
export function textStream(
  pieces: AsyncIterator<string>,
  onBroken: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let isGone = false
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next()
          if (isGone) return
          if (done) controller.close()
          else controller.enqueue(encoder.encode(value))
        } catch (error) {
          onBroken(error)
          controller.error(error)
        }
      },
      async cancel() {
        isGone = true
        await pieces.return?.()
      },
    },
    { highWaterMark: 1 },
  )
}

/** Joins pieces until they are long enough to be worth sending. */
export async function* gathered(
  pieces: AsyncIterable<string>,
  minLength = 16_384,
): AsyncGenerator<string> {
  let text = ''
  for await (const piece of pieces) {
    text += piece
    if (text.length < minLength) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

/** The body of a HEAD request for a download. Its length is not known, so none is sent. */
export function unreadStream(): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.close()
      },
    },
    // Closed only if it is read after all. If it were closed at once, its length would be sent as 0.
    { highWaterMark: 0 },
  )
}

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
