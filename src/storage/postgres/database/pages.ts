import type { TimeSlices } from '../../../scheduling/cooperative.ts'

/**
 * Rows a page at a time, each page a statement of its own. The next page is asked for while one is
 * worked on.
 *
 * @param next the page after a row
 * @param first what stands before the first row
 * @param size rows of a page; one with fewer is the last
 */
export async function* pages<Row extends Last, Last>(
  next: (last: Last) => Promise<readonly Row[]>,
  first: Last,
  size: number,
): AsyncGenerator<readonly Row[]> {
  for (let asked: Promise<readonly Row[]> | null = next(first); asked; ) {
    const page: readonly Row[] = await asked
    asked = page.length < size ? null : next(page.at(-1)!)
    // Whoever stops reading does not learn that it failed.
    asked?.catch(() => {})
    if (page.length > 0) yield page
  }
}

/** Rows so many at a time. */
export function* piecesOf<Row>(rows: readonly Row[], size: number): Generator<readonly Row[]> {
  for (let at = 0; at < rows.length; at += size) yield rows.slice(at, at + size)
}

/** The rows of pages so many at a time, and before each others get their turn. */
export async function* inSlices<Row>(
  pages: AsyncIterable<readonly Row[]>,
  size: number,
  slices: TimeSlices,
): AsyncGenerator<readonly Row[]> {
  for await (const page of pages) {
    for (const piece of piecesOf(page, size)) {
      await slices.rest()
      yield piece
    }
  }
}
