import { type Static, Type } from '@sinclair/typebox'
import { isTelling } from '../step/comparison.ts'
import { type Fingerprint, fitted, recognisableParts } from '../step/fingerprint.ts'
import { nameOf } from '../step/likeness.ts'
import { textHash } from '../text/text-hash.ts'
import { closed, sha256, text } from './values.ts'

// Every page of a site fetches this with the flow, so it is far smaller than what a page may report.
const maxLength = 200
const bounds = { maxClasses: 10, maxAncestors: 5 }

const words = (description: string) => text(1, maxLength, { description })

const parts = recognisableParts(words, bounds, { additionalProperties: false })

/**
 * What the element of a step was like, for pages on which no selector finds it. It belongs to the author:
 * written by hand, or taken over from the baseline by `cairn steps pin`. It never comes directly from
 * visitors' pages, because every page gets it, and everybody with the snippet key can send fingerprints.
 */
export const FlowFingerprint = closed(
  {
    ...parts,
    tag: words('Tag. Only elements of this tag are compared.'),
    text: Type.Optional(words('Text. All pages get it: use `textHash` if it is personal.')),
    textHash: Type.Optional(
      sha256(
        'Instead of the text: the SHA-256 of the trimmed text with white space folded, in hex.',
      ),
    ),
    attributes: Type.Optional(
      closed(
        {
          name: Type.Optional(words('Name of a form field.')),
          type: Type.Optional(words('Type of a field or button.')),
          for: Type.Optional(words('What a label is for.')),
          href: Type.Optional(words("A link's path, without a query.")),
          placeholder: Type.Optional(words("A field's placeholder.")),
          title: Type.Optional(words('Title.')),
        },
        { description: 'Attributes that identify it.' },
      ),
    ),
    locale: Type.Optional(
      words('Language of the page. Texts are not compared with pages in another language.'),
    ),
  },
  {
    description:
      'What the element was like. If no selector finds it, the only element that scores .85 or more ' +
      'is used. Fields that are left out are not compared. "cairn steps pin" fills it in.',
  },
)
export type FlowFingerprint = Static<typeof FlowFingerprint>

/**
 * What a flow takes over from a fingerprint that pages sent. Every visitor gets it, so it contains only the
 * hash of a text, and no name that repeats the text. The position on the page is left out.
 *
 * @param print the result of `allowedFingerprint`
 * @param locale of its page; null if unknown
 * @returns null if it says too little to identify an element
 */
export function pinnedFingerprint(
  { text: words, ...print }: Fingerprint,
  locale: string | null,
): FlowFingerprint | null {
  const hash = print.textHash ?? (words === undefined ? undefined : textHash(words))
  const called = nameOf(print)
  const name = called !== undefined && textHash(called) !== hash ? called : undefined
  const pinned = fitted(FlowFingerprint, { ...print, name, textHash: hash, locale })
  return pinned !== undefined && isTelling(pinned as FlowFingerprint)
    ? (pinned as FlowFingerprint)
    : null
}
