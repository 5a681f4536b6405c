/**
 * Yields rows a page at a time. Each page is a statement of its own that is executed when it is needed,
 * because an open snapshot would stop checkpoints, and hold up whoever writes between two pages.
 *
 * @param next returns the page after a row
 * @param first what comes before the first row
 * @param size rows of a page; one with fewer is the last
 */
export function* pages<Row extends Last, Last>(
  next: (last: Last) => readonly Row[],
  first: Last,
  size: number,
): Generator<readonly Row[]> {
  for (let last = first; ; ) {
    const page = next(last)
    yield page
    if (page.length < size) return
    last = page.at(-1) as Row
  }
}
