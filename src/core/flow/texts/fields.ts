import { itemsOf } from '../items.ts'

/**
 * The fields of a flow that are texts for visitors, and so can be translated. Everything that checks,
 * exports, imports and shows texts uses these lists, so another text takes just another line here.
 */

export interface TextField {
  /**
   * The field's names, joined by dots. `buttons[].label` is a text of each entry of a list, whose
   * translations are a list too: `buttons: [Weiter, null]`.
   */
  path: string
  isMarkdown?: boolean
  /** What it is, for translators. After the number of its step or item, and before that of the entry of a list. */
  means: string
}

/** Texts of the flow itself, of its steps, and of its items. */
export const textFields = {
  flow: [{ path: 'title', means: 'Heading of the flow' }],
  steps: [
    { path: 'title', means: 'heading' },
    { path: 'body', means: 'text', isMarkdown: true },
    { path: 'buttons[].label', means: 'button' },
    { path: 'media.alt', means: 'what the image or video shows' },
    { path: 'question.low', means: 'lowest answer' },
    { path: 'question.high', means: 'highest answer' },
    { path: 'question.placeholder', means: 'example of an answer' },
    { path: 'question.choices[].label', means: 'answer' },
  ],
  items: [
    { path: 'title', means: 'name' },
    { path: 'description', means: 'description', isMarkdown: true },
  ],
} as const satisfies Record<string, readonly TextField[]>

/** The translations of a part by text field. For a list they are a list, in which null keeps the original text. */
export type PartTexts = { [field: string]: string | null | (string | null)[] | PartTexts }

/** The texts of a flow in one language. */
export interface LocaleTexts {
  title?: string
  /** By step key, and by item key. */
  steps?: Readonly<Record<string, PartTexts>>
  items?: Readonly<Record<string, PartTexts>>
}

/** The texts of a flow in other languages than its own, by language tag. */
export type FlowTexts = Readonly<Record<string, LocaleTexts>>

export type Path = readonly (string | number)[]

/** The value at a path. Uses own properties only, because a step's key may be the name of an inherited one. */
export function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (found, name) =>
      typeof found === 'object' && found !== null && Object.hasOwn(found, name)
        ? found[name as keyof typeof found]
        : undefined,
    value,
  )
}

/** A copy with another value at a path that exists up to its last name. */
export function withAt<T>(value: T, [name, ...rest]: Path, put: unknown): T {
  if (name === undefined) return put as T
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<
    string | number,
    unknown
  >
  copy[name] = withAt(copy[name], rest, put)
  return copy as T
}

/** Where a field's texts are in a part, and where their translations are in the part's translations. */
export function placesOf(part: unknown, { path }: TextField): { own: Path; translated: Path }[] {
  const [names = '', ofEntry] = path.split('[].')
  const own = names.split('.')
  if (ofEntry === undefined) return [{ own, translated: own }]
  const entries = at(part, own)
  const count = Array.isArray(entries) ? entries.length : 0
  return Array.from({ length: count }, (_, i) => ({
    own: [...own, i, ofEntry],
    translated: [...own, i],
  }))
}

type Keyed = readonly { key: string }[]
interface Parts {
  steps: Keyed
  checklist: { items: Keyed } | null
  launcher?: { items: Keyed } | undefined
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
export function inOrder(texts: FlowTexts, flow: Parts): FlowTexts {
  const ofLocale = (texts: LocaleTexts): LocaleTexts => ({
    ...texts,
    ...(texts.steps && { steps: asParts(texts.steps, flow.steps) }),
    ...(texts.items && { items: asParts(texts.items, itemsOf(flow)) }),
  })
  const sorted = Object.entries(texts).sort(byName)
  return Object.fromEntries(sorted.map(([tag, ofTag]) => [tag, ofLocale(ofTag)]))
}
