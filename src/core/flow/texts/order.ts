import type { FlowTexts, LocaleTexts, PartTexts } from './fields.ts'

type Keyed = readonly { key: string }[]
interface Parts {
  steps: Keyed
  checklist: { items: Keyed } | null
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)

/** Sorts texts in the order of their parts. Texts without a part come last, by name. */
function asParts(texts: Readonly<Record<string, PartTexts>>, parts: Keyed) {
  const places = new Map(parts.map(({ key }, place) => [key, place]))
  const placeOf = (key: string) => places.get(key) ?? parts.length
  return Object.fromEntries(
    Object.entries(texts).sort((a, b) => placeOf(a[0]) - placeOf(b[0]) || byName(a, b)),
  )
}

/** Texts in the canonical order of files: languages by tag, parts as in the flow. */
export function inOrder(texts: FlowTexts, { steps, checklist }: Parts): FlowTexts {
  const ofLocale = (told: LocaleTexts): LocaleTexts => ({
    ...told,
    ...(told.steps && { steps: asParts(told.steps, steps) }),
    ...(told.items && { items: asParts(told.items, checklist?.items ?? []) }),
  })
  const sorted = Object.entries(texts).sort(byName)
  return Object.fromEntries(sorted.map(([tag, told]) => [tag, ofLocale(told)]))
}
