import type { TimeSlices } from '../../../scheduling/cooperative.ts'

/**
 * Reads rows page by page, each page with a statement of its own. The next page is requested while one is
 * worked on.
 *
 * @param next reads the page after a row
 * @param first the position before the first row
 * @param size rows per page; a page with fewer is the last
 */
export async function* pages<Row extends Last, Last>(
  next: (last: Last) => Promise<readonly Row[]>,
  first: Last,
  size: number,
): AsyncGenerator<readonly Row[]> {
  for (let asked: Promise<readonly Row[]> | null = next(first); asked; ) {
    const page: readonly Row[] = await asked
    asked = page.length < size ? null : next(page.at(-1)!)
    // A reader that stops is not told that this page failed.
    asked?.catch(() => {})
    if (page.length > 0) yield page
  }
}

/** Splits rows into pieces of this size. */
export function* piecesOf<Row>(rows: readonly Row[], size: number): Generator<readonly Row[]> {
  for (let at = 0; at < rows.length; at += size) yield rows.slice(at, at + size)
}

/** Splits pages into pieces of this size, and gives others their turn before each piece. */
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
