import type { FlowTexts, LocaleTexts, PartTexts } from './fields.ts'

type Keyed = readonly { key: string }[]
interface Parts {
  steps: Keyed
  checklist: { items: Keyed } | null
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)

/** In the order of the parts; what belongs to none comes last, by name. */
function asParts(texts: Readonly<Record<string, PartTexts>>, parts: Keyed) {
  const places = new Map(parts.map(({ key }, place) => [key, place]))
  const placeOf = (key: string) => places.get(key) ?? parts.length
  return Object.fromEntries(
    Object.entries(texts).sort((a, b) => placeOf(a[0]) - placeOf(b[0]) || byName(a, b)),
  )
}

/** Texts in the one order that files have: languages by tag, parts as the flow has them. */
export function inOrder(texts: FlowTexts, { steps, checklist }: Parts): FlowTexts {
  const ofLocale = (told: LocaleTexts): LocaleTexts => ({
    ...told,
    ...(told.steps && { steps: asParts(told.steps, steps) }),
    ...(told.items && { items: asParts(told.items, checklist?.items ?? []) }),
  })
  const sorted = Object.entries(texts).sort(byName)
  return Object.fromEntries(sorted.map(([tag, told]) => [tag, ofLocale(told)]))
}
