import { nearest, quoted } from '../../text/wording.ts'
import { localeOf } from './language.ts'

/** Codes of languages whose English names authors may write in place of a tag. */
const called =
  'ar bg bn ca cs da de el en es et fa fi fr he hi hr hu id is it ja ko lt lv ms nb nl no pl pt ro ru sk sl sr sv ta th tr uk ur vi zh'

/** What is wrong with a language tag, in one sentence; null if it is right. */
export function localeProblem(tag: string): string | null {
  const [canonical, isRight] = judged(tag)
  if (isRight) return null
  const meant = canonical ?? guess(tag)
  const hint = meant === null ? '' : `: did you mean ${quoted(meant)}?`
  if (hint === '') {
    return `${quoted(tag)} is not a language: write a BCP 47 tag such as de, pt-BR or zh-Hant`
  }
  return `${quoted(tag)} is not a valid language tag${hint}`
}

/** The canonical form of a tag, if it is one, and whether it was written that way. */
function judged(tag: string): [canonical: string | null, isRight: boolean] {
  const written = tag.replaceAll('_', '-')
  const canonical = localeOf(written)?.toString()
  if (!canonical || /-[ux]-/i.test(canonical)) return [null, false]
  // A macrolanguage or a code of three letters often has a code of two by now.
  const likely = localeOf(canonical)!.maximize()
  const { language = '' } = localeOf(canonical)!
  const short = language.length === 3 && likely.language.length === 2 ? likely.language : language
  const shortest = short + canonical.slice(language.length)
  return isKnown(shortest) ? [shortest, shortest === tag] : [null, false]
}

const names = (type: 'language' | 'region' | 'script') =>
  new Intl.DisplayNames(['en'], { type, fallback: 'none' })

function isKnown(tag: string): boolean {
  const { language, region, script } = localeOf(tag)!
  return (
    names('language').of(language!) !== undefined &&
    (!region || names('region').of(region) !== undefined) &&
    (!script || names('script').of(script) !== undefined)
  )
}

/** The language of a country whose code was written, or the language with a similar name. */
function guess(tag: string): string | null {
  const [first = '', region] = tag.split(/[-_]/)
  if (region && judged(first)[1]) return first
  if (/^[a-z]{2}$/i.test(first) && names('region').of(first.toUpperCase()) !== undefined) {
    const meant = localeOf(`und-${first}`)?.maximize().language
    if (meant && meant !== 'und') return judged(region ? `${meant}-${region}` : meant)[0] ?? meant
  }
  const codes = called.split(' ')
  const byName = new Map(codes.map(code => [names('language').of(code)!.toLowerCase(), code]))
  const near = nearest(tag.toLowerCase(), [...byName.keys()])
  return near === null ? null : byName.get(near)!
}
