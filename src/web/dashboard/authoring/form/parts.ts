import { type Entry, listPaths, lists } from './entries.ts'
import { placesOf } from './fields.tsx'
import { details, pagesAndPeople } from './flow-tables.ts'
import { isUnder, pointerOf } from './form.ts'
import { scheduleAndRollout } from './when-table.ts'

/** The parts of a flow beside its steps and items, with the places that each shows. */
export const parts = {
  details: { name: 'Details', places: placesOf(details) },
  where: { name: 'Pages and people', places: placesOf(pagesAndPeople) },
  when: { name: 'Schedule and rollout', places: placesOf(scheduleAndRollout) },
  languages: { name: 'Languages', places: ['/locale', '/texts'] },
} as const

export type PartName = keyof typeof parts
export const partNames = Object.keys(parts) as PartName[]

/** A problem of a mapping belongs to the part that shows the mapping's fields. */
export const isOf = (part: PartName, pointer: string) =>
  parts[part].places.some(place => isUnder(pointer, place) || isUnder(place, pointer))

/** A part of the form, or one step or item. */
export type Chosen = PartName | Pick<Entry, 'list' | 'index'>

/** The part of the form that shows a place. */
export function partAt(pointer: string): Chosen {
  for (const list of lists) {
    const [, index] = new RegExp(`^${pointerOf(listPaths[list])}/(\\d+)`).exec(pointer) ?? []
    if (index !== undefined) return { list, index: Number(index) }
  }
  return partNames.find(part => isOf(part, pointer)) ?? 'details'
}
