import { below, didYouMean, quoted } from '../../text/wording.ts'
import { FlowDefinition } from '../flow.ts'
import { itemsOf } from '../items.ts'
import { errorIf, type LintRules, onFields, warnIf } from '../lint-rule.ts'
import { htmlIn, unsafeLinkIn } from '../markdown-rules.ts'
import { at, type Path } from './fields.ts'
import { localeProblem } from './locale.ts'
import { coverageOf, textUnits, translationOf } from './units.ts'

/** How many missing texts a warning names. */
const maxNamed = 3

const pointerTo = (path: Path, from = '/texts') =>
  path.reduce<string>((pointer, name) => below(pointer, String(name)), from)

type Locales = Pick<FlowDefinition, 'locale' | 'texts'>
type Translated = Locales &
  Pick<FlowDefinition, 'kind' | 'name' | 'title' | 'steps' | 'checklist' | 'launcher'>

/** What `look` finds in each Markdown text of each language. */
const inMarkdown = (flow: Translated, look: (text: string) => string | null) =>
  Object.entries(flow.texts ?? {}).flatMap(([tag, texts]) =>
    textUnits(flow).flatMap(unit => {
      const text = unit.isMarkdown ? translationOf(texts, unit) : null
      const message = text === null ? null : look(text)
      return message === null ? [] : [{ path: pointerTo([tag, ...unit.path]), message }]
    }),
  )

/** Texts for parts that the flow does not have: the key is mistyped, or the part was removed. */
function superfluous(flow: Translated) {
  // A title may be translated even if the flow has none: it is the name of a tour.
  const known = new Set(['/texts/title', ...textUnits(flow).map(({ path }) => pointerTo(path))])
  const keysOf: Record<string, string[]> = {
    steps: flow.steps.map(({ key }) => key),
    items: itemsOf(flow).map(({ key }) => key),
  }
  return Object.entries(flow.texts ?? {}).flatMap(([tag, texts]) => {
    const found = new Map<string, string>()
    for (const path of leavesOf(texts)) {
      if (known.has(pointerTo(path))) continue
      const [list, key] = path.map(String)
      const keys = keysOf[list ?? '']
      if (!keys || key === undefined || keys.includes(key)) {
        const message = 'The flow has no such text: remove this translation'
        found.set(pointerTo([tag, ...path]), message)
      } else {
        const hint = didYouMean(key, keys) || ': remove it, or correct the key'
        const message = `The flow has no ${list === 'steps' ? 'step' : 'item'} ${quoted(key)}${hint}`
        found.set(pointerTo([tag, list!, key]), message)
      }
    }
    return [...found].map(([path, message]) => ({ path, message }))
  })
}

const missingTexts = (flow: Translated) =>
  coverageOf(flow).flatMap(({ locale, missing, of }) => {
    if (missing.length === 0 || localeProblem(locale) !== null) return []
    const some = missing.slice(0, maxNamed).map(({ id }) => id)
    const more = missing.length > some.length ? ', …' : ''
    const own = quoted(flow.locale ?? 'the flow’s own language')
    const message = `${missing.length} of ${of} texts are missing in ${quoted(locale)} (${some.join(', ')}${more}): visitors read them in ${own}`
    return [{ path: pointerTo([locale]), message }]
  })

/** The paths of all texts, in a mapping of any depth that the schema allows. */
function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value === 'string') return [path]
  if (typeof value !== 'object' || value === null) return []
  const names = Array.isArray(value) ? value.map((_, i) => i) : Object.keys(value)
  return names.flatMap(name => leavesOf(at(value, [name]), [...path, name]))
}

/** The rules about a flow's languages and its texts in them. */
export const textRules: readonly LintRules[] = [
  onFields(
    FlowDefinition,
    ['locale', 'texts'],
    errorIf(
      'unknown_locale /locale',
      ({ locale }) => locale !== undefined && localeProblem(locale),
    ),
    errorIf(
      'missing_locale /locale',
      ({ locale, texts }) => texts !== undefined && locale === undefined,
      'The flow has translations but no language of its own: add "locale: en", or another tag',
    ),
    errorIf('unknown_locale', ({ texts = {} }) =>
      Object.keys(texts).flatMap(tag => {
        const message = localeProblem(tag)
        return message === null ? [] : [{ path: pointerTo([tag]), message }]
      }),
    ),
    errorIf(
      'same_locale',
      ({ locale, texts = {} }) => {
        const isOwn = locale !== undefined && locale in texts && localeProblem(locale) === null
        return isOwn && { path: pointerTo([locale]) }
      },
      (_, { locale = '' }) =>
        `The flow itself is written in ${quoted(locale)}: change the texts where the flow has them, and remove these`,
    ),
  ),
  onFields(
    FlowDefinition,
    ['locale', 'texts', 'name', 'title', 'kind', 'steps', 'checklist', 'launcher'],
    warnIf('superfluous_text', superfluous),
    errorIf('unsafe_link', flow => inMarkdown(flow, unsafeLinkIn)),
    warnIf('html', flow => inMarkdown(flow, htmlIn)),
    warnIf('missing_text', missingTexts),
  ),
]
