import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Fingerprint } from '../step/fingerprint.ts'
import { nameOf } from '../step/likeness.ts'
import { isTelling } from '../step/remembered.ts'
import { textHash } from '../text/text-hash.ts'
import { closed, sha256, text } from './values.ts'

/** Every page of a site fetches this with the flow, so it is far smaller than what a page may send. */
const maxAncestors = 5
const maxClasses = 10

const words = (description: string) => Type.Optional(text(1, 200, { description }))

const place = Type.Optional(
  Type.Integer({ minimum: 0, description: 'Its place among its siblings, counted from 0.' }),
)

const Around = closed({
  tag: words('Its tag.'),
  id: words('Its id.'),
  role: words('Its role.'),
  testId: words('The value of its test id.'),
  nth: place,
})

/**
 * What the element of a step was like, for pages on which no selector finds it. It belongs to the author:
 * written by hand, or taken over from the baseline by `cairn steps pin`. It never comes directly from
 * visitors' pages, because every page gets it, and everybody with the snippet key can send fingerprints.
 */
export const FlowFingerprint = closed(
  {
    tag: text(1, 200, { description: 'Its tag; only elements of this tag are compared.' }),
    id: words('Its id.'),
    testId: Type.Optional(
      closed(
        {
          attr: text(1, 200, { description: 'Name of the attribute, such as data-test.' }),
          value: text(1, 200, { description: 'Its value.' }),
        },
        { description: 'The attribute by which tests find it.' },
      ),
    ),
    role: words('Its role.'),
    name: words('Its accessible name.'),
    text: words('Its text. All pages get it: use `textHash` if it is personal.'),
    textHash: Type.Optional(
      sha256(
        'Instead of the text: the SHA-256 of the trimmed text with white space folded, in hex.',
      ),
    ),
    classes: Type.Optional(
      Type.Array(text(1, 200), { maxItems: maxClasses, description: 'Its classes.' }),
    ),
    attributes: Type.Optional(
      closed(
        {
          name: words('Name of a form field.'),
          type: words('Type of a field or button.'),
          for: words('What a label is for.'),
          href: words("A link's path, without a query."),
          placeholder: words("A field's placeholder."),
          title: words('Its title.'),
        },
        { description: 'Attributes that identify it.' },
      ),
    ),
    ancestors: Type.Optional(
      Type.Array(Around, {
        maxItems: maxAncestors,
        description: 'The elements around it, its parent first.',
      }),
    ),
    locale: words('Language of the page. Texts are not compared with pages in another language.'),
  },
  {
    description:
      'What the element was like. If no selector finds it, the only element that scores .85 or more ' +
      'is used. Fields that are left out are not compared. "cairn steps pin" fills it in.',
  },
)
export type FlowFingerprint = Static<typeof FlowFingerprint>

/** A value if a flow may contain it: what pages send can be longer, and may not be clean text. */
const fitting = <Schema extends TSchema>(schema: Schema, value: unknown) =>
  Value.Check(schema, value) ? value : undefined

const { properties } = FlowFingerprint

/** Those fields of a mapping that a flow may contain. */
function fittingFields(fields: Record<string, TSchema>, given: object): object | undefined {
  const kept = Object.entries(fields).flatMap(([name, schema]) => {
    const value = fitting(schema, (given as Record<string, unknown>)[name])
    return value === undefined ? [] : [[name, value]]
  })
  return kept.length > 0 ? Object.fromEntries(kept) : undefined
}

/**
 * What a flow takes over from a fingerprint that pages sent. Every visitor gets it, so it contains only the
 * hash of a text, and no name that repeats the text. The position on the page is left out.
 *
 * @param print the result of `allowedFingerprint`
 * @param locale of its page; null if unknown
 * @returns null if it says too little to identify an element
 */
export function pinnedFingerprint(
  print: Fingerprint,
  locale: string | null,
): FlowFingerprint | null {
  const hash = print.textHash ?? (print.text === undefined ? undefined : textHash(print.text))
  const name = nameOf(print)
  const { classes = [], ancestors = [], attributes = {}, testId } = print
  const some = <Value>(list: Value[]) => (list.length > 0 ? list : undefined)
  const pinned = fittingFields(properties, {
    tag: print.tag,
    id: print.id,
    testId,
    role: print.role,
    name: name !== undefined && textHash(name) !== hash ? name : undefined,
    textHash: hash,
    classes: some(classes.filter(one => one.length <= 200).slice(0, maxClasses)),
    attributes: fittingFields(properties.attributes.properties, attributes),
    // An ancestor that says nothing stays, so that the others keep their places.
    ancestors: some(
      ancestors
        .slice(0, maxAncestors)
        .map(around => fittingFields(Around.properties, around) ?? {}),
    ),
    locale,
  })
  const isWhole = Value.Check(FlowFingerprint, pinned) && isTelling(pinned)
  return isWhole ? pinned : null
}
