import type { RunColumns } from '../../src/storage/interfaces/analytics.ts'

/** Each run in columns, without what may differ in form: the order of their lists, and what they count from. */
export function runsOf(columns: RunColumns) {
  const bit = (planes: readonly Uint8Array[], run: number, place: number) =>
    ((planes[place >> 3]?.[run] ?? 0) >> (place & 7)) & 1
  const next = columns.steps.map(() => 0)
  return Array.from({ length: columns.count }, (_, run) => {
    const state = columns.states[run]!
    const isCompleted = (state & 3) === 2
    const end = columns.ends[run]!
    return {
      start: columns.from + columns.starts[run]!,
      person: [columns.people[run * 2], columns.people[run * 2 + 1]],
      version: columns.versions[state >> 2],
      outcome: state & 3,
      end: isCompleted || end === 0 ? end : `at ${columns.steps[end - 1]!.ref}`,
      steps: columns.steps
        .map(({ ref }, place) => {
          const marks = columns.marks.map(planes => bit(planes, run, place))
          const spent = marks[0] ? columns.spent[place]![next[place]!++] : null
          return { ref, marks, spent }
        })
        .filter(({ marks }) => marks.includes(1))
        .sort((a, b) => a.ref - b.ref),
      items: columns.items.filter((_, place) => bit(columns.ticks, run, place + 1)).toSorted(),
      traits: columns.traits
        .map(({ name, values, places }) => [name, values[places[run]! - 1]])
        .filter(([, value]) => value !== undefined)
        .toSorted(),
      checklist: bit(columns.ticks, run, 0),
      way: columns.paths?.distinct[columns.paths.places[run]!]?.map(
        place => columns.steps[place]!.ref,
      ),
      lately: columns.lately.at[columns.lately.places.indexOf(run)],
    }
  })
}
