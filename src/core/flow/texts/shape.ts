import { type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { closed, keyPattern, nullable, text } from '../values.ts'
import { type FlowTexts, type TextField, textFields } from './fields.ts'

/** The most languages of one flow besides its own. */
export const maxLocales = 40

/** The length of the longest tags in actual use. */
const maxTagLength = 35

/** A language tag, as far as a pattern can check; `localeProblem` does the rest. */
const tagPattern = '^[A-Za-z][A-Za-z0-9_-]*$'

/** The language that a flow is written in. */
export const Locale = Type.Optional(
  text(2, maxTagLength, {
    description:
      'The language that the flow is written in, as a BCP 47 tag such as en or pt-BR. Needed where it has texts in others.',
  }),
)

/** A mapping whose names are chosen by its author. */
const named = (pattern: string, of: TSchema, options: object) =>
  Type.Record(Type.String({ pattern }), of, { additionalProperties: false, ...options })

const behindNull = (schema: TSchema): TSchema =>
  (schema.anyOf as TSchema[] | undefined)?.find(({ type }) => type !== 'null') ?? schema

const fieldAt = (schema: TSchema, names: readonly string[]): TSchema =>
  names.reduce((holder, name) => behindNull(behindNull(holder).properties[name]), schema)

/** One translated text. It may be as long as the original text may be. */
const translated = ({ maxLength }: TSchema) => text(1, maxLength)

/** The schema of a part's translations, in the shape of its text fields. */
function partTexts(part: TSchema, fields: readonly TextField[]): TProperties {
  const shape: Record<string, TSchema> = {}
  const deeper = new Map<string, TextField[]>()
  for (const field of fields) {
    const [names = '', ofEntry] = field.path.split('[].')
    const [name = '', ...rest] = names.split('.')
    if (rest.length > 0) {
      deeper.set(name, [
        ...(deeper.get(name) ?? []),
        { ...field, path: field.path.slice(name.length + 1) },
      ])
    } else if (ofEntry === undefined) shape[name] = translated(fieldAt(part, [name]))
    else {
      const { items, maxItems } = fieldAt(part, [name])
      const options = { maxItems, description: 'By place; null keeps the text.' }
      shape[name] = Type.Array(nullable(translated(fieldAt(items, [ofEntry]))), options)
    }
  }
  for (const [name, inner] of deeper) shape[name] = closed(partTexts(fieldAt(part, [name]), inner))
  return Object.fromEntries(Object.entries(shape).map(([name, of]) => [name, Type.Optional(of)]))
}

/** The schema of a flow's texts, from the schemas of the flow, its steps and its items. */
export function textsOf(flow: TSchema, step: TSchema, item: TSchema) {
  const parts = (of: TSchema, fields: readonly TextField[], what: string) =>
    Type.Optional(
      named(keyPattern, closed(partTexts(of, fields)), {
        maxProperties: 100,
        description: `Texts of ${what}, by their keys.`,
      }),
    )
  const ofLocale = closed({
    ...partTexts(flow, textFields.flow),
    steps: parts(step, textFields.steps, 'steps'),
    items: parts(item, textFields.items, 'items'),
  })
  return Type.Optional(
    Type.Unsafe<FlowTexts>(
      named(tagPattern, ofLocale, {
        maxProperties: maxLocales,
        description:
          'Translations, by language tag. Pages show the best match for a visitor; missing texts are shown in the language of the flow.',
      }),
    ),
  )
}
