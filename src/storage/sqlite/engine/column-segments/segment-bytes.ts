import type { ColumnStep, ColumnTrait, RunColumns } from '../../../../modules/analytics/port.ts'

/**
 * Runs in columns as bytes: the length of a heading, the heading as JSON, then the columns one after the
 * other, those with the widest numbers first, so that each is read in place. Little-endian, like every
 * machine that this program runs on.
 */
interface Heading {
  count: number
  /** The number of runs of which something was heard lately. */
  lately: number
  versions: readonly number[]
  steps: readonly ColumnStep[]
  /** The number of planes of each step outcome. */
  marks: readonly number[]
  items: readonly number[]
  ticks: number
  /** Absent if no run says any, and in segments that an older Cairn made. */
  traits?: readonly Omit<ColumnTrait, 'places'>[]
}

const headingAt = 4

const columnsAt = (headingBytes: number) => Math.ceil((headingAt + headingBytes) / 8) * 8

export function encodeSegment(columns: RunColumns): Uint8Array {
  const { count, lately, versions, steps, marks, items, ticks, traits } = columns
  const heading: Heading = {
    count,
    lately: lately.places.length,
    versions,
    steps,
    marks: marks.map(planes => planes.length),
    items,
    ticks: ticks.length,
    ...(traits.length > 0 && { traits: traits.map(({ name, values }) => ({ name, values })) }),
  }
  const text = new TextEncoder().encode(JSON.stringify(heading))
  const parts = [
    lately.at,
    columns.people,
    columns.starts,
    lately.places,
    columns.states,
    columns.ends,
    ...columns.spent,
    ...traits.map(({ places }) => places),
    ...marks.flat(),
    ...ticks,
  ]
  const start = columnsAt(text.length)
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, start))
  new Uint32Array(bytes.buffer, 0, 1)[0] = text.length
  bytes.set(text, headingAt)
  let at = start
  for (const part of parts) {
    bytes.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at)
    at += part.byteLength
  }
  return bytes
}

/**
 * The columns in a segment's bytes, without copying them.
 *
 * @param from epoch milliseconds that the segment's starts are counted from
 */
export function decodeSegment(given: Uint8Array, from: number): RunColumns {
  const bytes = given.byteOffset % 8 === 0 ? given : given.slice()
  const { buffer, byteOffset } = bytes
  const length = new Uint32Array(buffer, byteOffset, 1)[0]!
  const text = bytes.subarray(headingAt, headingAt + length)
  const heading: Heading = JSON.parse(new TextDecoder().decode(text))
  const { count, versions, steps, items } = heading
  let at = byteOffset + columnsAt(length)
  const taken = (byteLength: number) => {
    at += byteLength
    return at - byteLength
  }
  const words = (length: number) => new Uint32Array(buffer, taken(length * 4), length)
  const halves = (length: number) => new Uint16Array(buffer, taken(length * 2), length)
  const planes = (length: number) =>
    Array.from({ length }, () => new Uint8Array(buffer, taken(count), count))
  const latelyAt = new Float64Array(buffer, taken(heading.lately * 8), heading.lately)
  return {
    count,
    from,
    people: words(count * 2),
    starts: words(count),
    lately: { places: words(heading.lately), at: latelyAt },
    states: halves(count),
    ends: halves(count),
    versions,
    steps,
    spent: steps.map(({ counts }) => halves(counts[0]!)),
    traits: (heading.traits ?? []).map(trait => ({ ...trait, places: halves(count) })),
    marks: heading.marks.map(planes),
    items,
    ticks: planes(heading.ticks),
    cohorts: null,
    ways: null,
    // Whoever keeps a segment knows how many versions it was made with.
    dependsOnNewest: false,
  }
}
