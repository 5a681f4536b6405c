import type { FlowDefinition } from '../flow.ts'
import { itemsAt, itemsOf } from '../items.ts'
import { shownAs } from '../shown-as.ts'
import { at, type LocaleTexts, type Path, placesOf, type TextField, textFields } from './fields.ts'

/** A text of a flow that can be translated. */
export interface TextUnit {
  /** Its name in files for translators: `steps.create.buttons.0`. A dot in a key becomes a colon. */
  id: string
  /** The path of its translation within the texts of a language. */
  path: Path
  /** Its place in the flow, as a JSON pointer. */
  pointer: string
  /** The text in the flow's own language. */
  source: string
  /** What it is, for translators. */
  means: string
  isMarkdown: boolean
}

type Flow = Pick<FlowDefinition, 'kind' | 'name' | 'title' | 'steps' | 'checklist' | 'launcher'>

const partNames = { steps: 'Step', items: 'Item' }

const number = (path: Path) => path.find(name => typeof name === 'number')

/** Every text that a flow has, in the order in which visitors meet them. */
export function textUnits(flow: Flow): TextUnit[] {
  const of = (part: unknown, fields: readonly TextField[], way: Path, place: string, whose = '') =>
    fields.flatMap(field =>
      placesOf(part, field).flatMap(({ own, translated }): TextUnit[] => {
        const source = at(part, own)
        if (typeof source !== 'string' || source.trim() === '') return []
        const path = [...way, ...translated]
        const entry = number(own)
        return [
          {
            id: path.map(name => String(name).replaceAll('.', ':')).join('.'),
            path,
            pointer: `${place}/${own.join('/')}`,
            source,
            means: `${whose}${field.means}${entry === undefined ? '' : ` ${Number(entry) + 1}`}`,
            isMarkdown: field.isMarkdown ?? false,
          },
        ]
      }),
    )
  const each = (parts: readonly { key: string }[], list: 'steps' | 'items', place: string) =>
    parts.flatMap((part, i) =>
      of(
        part,
        textFields[list],
        [list, part.key],
        `${place}/${i}`,
        `${partNames[list]} ${i + 1}: `,
      ),
    )
  // A list and a launcher always have a heading. The name of a tour is only for people who hear the page.
  const title = flow.title ?? (shownAs(flow) === 'steps' ? undefined : flow.name)
  return [
    ...of({ title }, textFields.flow, [], ''),
    ...each(flow.steps, 'steps', '/steps'),
    ...each(itemsOf(flow), 'items', itemsAt(flow)),
  ]
}

/** The translation of a text; null if there is none. */
export function translationOf(texts: LocaleTexts | undefined, { path }: TextUnit): string | null {
  const found = at(texts, path)
  return typeof found === 'string' ? found : null
}

/** How much of a flow is translated into a language. */
export interface Coverage {
  locale: string
  translated: number
  of: number
  missing: TextUnit[]
}

/** The coverage of every language that the flow has texts in, by tag. */
export function coverageOf({
  texts = {},
  ...flow
}: Flow & Pick<FlowDefinition, 'texts'>): Coverage[] {
  const units = textUnits(flow)
  return Object.keys(texts)
    .sort()
    .map(locale => {
      const missing = units.filter(unit => translationOf(texts[locale], unit) === null)
      return { locale, translated: units.length - missing.length, of: units.length, missing }
    })
}
