import type { FlowDefinition } from '../flow.ts'
import { shownAs } from '../shown-as.ts'
import { at, type LocaleTexts, type Path, placesOf, type TextField, textFields } from './fields.ts'

/** A text of a flow that can be told in other languages. */
export interface TextUnit {
  /** Its name in files for translators: `steps.create.buttons.0`; a dot in a key is a colon there. */
  id: string
  /** Where its translation stands in the texts of a language. */
  path: Path
  /** Where it stands in the flow, as a JSON pointer. */
  pointer: string
  /** What the flow says in its own language. */
  source: string
  /** What it is, for translators. */
  means: string
  isMarkdown: boolean
}

type Flow = Pick<FlowDefinition, 'kind' | 'name' | 'title' | 'steps' | 'checklist'>

const number = (path: Path) => path.find(name => typeof name === 'number')

/** Every text that a flow has, in the order in which visitors meet them. */
export function textUnits(flow: Flow): TextUnit[] {
  const of = (part: unknown, fields: readonly TextField[], way: Path, place: string, of = '') =>
    fields.flatMap(field =>
      placesOf(part, field).flatMap(({ own, told }): TextUnit[] => {
        const source = at(part, own)
        if (typeof source !== 'string' || source.trim() === '') return []
        const path = [...way, ...told]
        const entry = number(own)
        return [
          {
            id: path.map(name => String(name).replaceAll('.', ':')).join('.'),
            path,
            pointer: `${place}/${own.join('/')}`,
            source,
            means: `${field.means}${of}${entry === undefined ? '' : `, number ${Number(entry) + 1}`}`,
            isMarkdown: field.isMarkdown ?? false,
          },
        ]
      }),
    )
  const each = (parts: readonly { key: string }[], list: 'steps' | 'items', place: string) =>
    parts.flatMap((part, i) =>
      of(part, textFields[list], [list, part.key], `${place}/${i}`, ` "${part.key}"`),
    )
  // A list has a heading in any case; of a tour its name is for those alone who hear the page.
  const title = flow.title ?? (shownAs(flow) === 'checklist' ? flow.name : undefined)
  return [
    ...of({ title }, textFields.flow, [], ''),
    ...each(flow.steps, 'steps', '/steps'),
    ...each(flow.checklist?.items ?? [], 'items', '/checklist/items'),
  ]
}

/** A text in a language, or null where it has none. */
export function translationOf(told: LocaleTexts | undefined, { path }: TextUnit): string | null {
  const found = at(told, path)
  return typeof found === 'string' ? found : null
}

/** How much of a flow a language has. */
export interface Coverage {
  locale: string
  told: number
  of: number
  missing: TextUnit[]
}

/** Of every language that the flow has texts in, by tag. */
export function coverageOf({
  texts = {},
  ...flow
}: Flow & Pick<FlowDefinition, 'texts'>): Coverage[] {
  const units = textUnits(flow)
  return Object.keys(texts)
    .sort()
    .map(locale => {
      const missing = units.filter(unit => translationOf(texts[locale], unit) === null)
      return { locale, told: units.length - missing.length, of: units.length, missing }
    })
}
