import type { FlowDefinition } from '../flow.ts'
import { at, placesOf, type TextField, textFields, withAt } from './fields.ts'

/** A tag as `Intl` knows it; null if it is not a tag. */
export function localeOf(tag: string): Intl.Locale | null {
  try {
    return new Intl.Locale(tag)
  } catch {
    return null
  }
}

const lower = (tag: string) => tag.toLowerCase()

/** By Norwegian, people mean Bokmål. */
const spoken = (language: string) => (language === 'nb' ? 'no' : language)

/**
 * The available tags that serve a person who asks for a language, best first: the tag itself, then ever
 * shorter ones as in the lookup of RFC 4647 (de-CH, de), then others of the same language and script (for
 * pt-PT that is pt, and also pt-BR). A shorter tag in another script comes last.
 */
export function servingTags(wanted: string, tags: readonly string[]): string[] {
  const wantedLocale = localeOf(wanted)
  if (!wantedLocale) return []
  const { language, script } = wantedLocale.maximize()
  const range = lower(wantedLocale.toString())
  const rank = (tag: string): number => {
    const given = localeOf(tag)
    const likely = given?.maximize()
    if (!given || !likely || spoken(likely.language) !== spoken(language)) return Number.NaN
    const name = lower(given.toString())
    const isShorter = `${range}-`.startsWith(`${name}-`)
    const isReadable = likely.script === script
    if (!isShorter && !isReadable) return Number.NaN
    return (isReadable ? 0 : 1_000) + (isShorter ? range.length - name.length : 500)
  }
  return tags
    .map(tag => [tag, rank(tag)] as const)
    .filter(([, place]) => !Number.isNaN(place))
    .sort(([, a], [, b]) => a - b)
    .map(([tag]) => tag)
}

/** Something with texts in several languages: a flow as its author wrote it, or as the API returns it. */
type Translated = Pick<
  FlowDefinition,
  'locale' | 'texts' | 'title' | 'name' | 'checklist' | 'launcher'
> & {
  steps: readonly { key: string }[]
}

export interface InLanguage<Flow> {
  flow: Flow
  /** The language of the flow's heading, or of a part's texts; null if unknown. */
  languageOf(part?: { key: string }): string | null
}

/**
 * A flow as a person reads it, text by text in the first of their languages for which the flow has
 * anything. If a text is missing there, it is shown in the next tag that serves this language, otherwise in
 * the flow's own language. It is never shown in a less preferred language, so that no card has three
 * languages.
 */
export function inLanguage<Flow extends Translated>(
  flow: Flow,
  wanted: readonly string[],
): InLanguage<Flow> {
  const { locale, texts } = flow
  const own = locale ?? null
  if (!texts) return { flow, languageOf: () => own }
  const tags = [...(own === null ? [] : [own]), ...Object.keys(texts)]
  const serving = wanted.map(tag => servingTags(tag, tags)).find(({ length }) => length > 0) ?? []
  const end = own === null ? serving.length : serving.indexOf(own)
  const chain = end < 0 ? serving : serving.slice(0, end)
  const languages = new Map<unknown, string>()

  const translated = <Part>(
    part: Part,
    fields: readonly TextField[],
    way: readonly string[],
  ): Part =>
    fields
      .flatMap(field => placesOf(part, field))
      .reduce((now, place) => {
        const isThere = typeof at(part, place.own) === 'string' || way.length === 0
        if (!isThere || at(part, place.own) === '') return now
        const tag = chain.find(
          one => typeof at(texts, [one, ...way, ...place.translated]) === 'string',
        )
        const by = tag ?? own
        const id = way.join(' ')
        if (by !== null && !languages.has(id)) languages.set(id, by)
        return tag ? withAt(now, place.own, at(texts, [tag, ...way, ...place.translated])) : now
      }, part)
  const each = <Part extends { key: string }>(parts: readonly Part[], list: 'steps' | 'items') =>
    parts.map(part => translated(part, textFields[list], [list, part.key]))

  const { checklist, launcher } = flow
  const shown = {
    ...translated(flow, textFields.flow, []),
    steps: each(flow.steps, 'steps'),
    checklist: checklist && { ...checklist, items: each(checklist.items, 'items') },
    ...(launcher && { launcher: { ...launcher, items: each(launcher.items, 'items') } }),
  }
  const languageOf = (part?: { key: string }) => {
    if (!part) return languages.get('') ?? own
    return languages.get(`steps ${part.key}`) ?? languages.get(`items ${part.key}`) ?? own
  }
  return { flow: shown, languageOf }
}

const fromTheRight = /^(Adlm|Arab|Hebr|Mand|Nkoo|Rohg|Samr|Syrc|Thaa)$/

/** The direction in which a language is written. */
export const directionOf = (tag: string): 'ltr' | 'rtl' =>
  fromTheRight.test(localeOf(tag)?.maximize().script ?? '') ? 'rtl' : 'ltr'
