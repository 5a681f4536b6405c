import { below, didYouMean, quoted } from '../../text/wording.ts'
import type { FlowDefinition } from '../flow.ts'
import { markdownProblems } from '../markdown-rules.ts'
import { error, type FlowProblem, warning } from '../problem.ts'
import { at, type Path } from './fields.ts'
import { localeProblem } from './locale.ts'
import { coverageOf, type TextUnit, textUnits, translationOf } from './units.ts'

/** How many missing texts a warning names. */
const maxNamed = 3

const pointerTo = (path: Path, from = '/texts') =>
  path.reduce<string>((pointer, name) => below(pointer, String(name)), from)

type Locales = Pick<FlowDefinition, 'locale' | 'texts'>

/** What the texts of a flow are compared with. */
type Told = Locales & Pick<FlowDefinition, 'kind' | 'name' | 'title' | 'steps' | 'checklist'>

/** Problems with the languages that a flow names. */
export function* localeProblems({ locale, texts }: Locales): Iterable<FlowProblem> {
  if (locale !== undefined) {
    const problem = localeProblem(locale)
    if (problem !== null) yield error('unknown_locale', '/locale', problem)
  }
  if (!texts) return
  if (locale === undefined) {
    const message =
      'The flow has translations but no language of its own: add "locale: en", or another tag'
    yield error('missing_locale', '/locale', message)
  }
  for (const tag of Object.keys(texts)) {
    const place = pointerTo([tag])
    const problem = localeProblem(tag)
    if (problem !== null) yield error('unknown_locale', place, problem)
    else if (tag === locale) {
      const message = `The flow itself is written in ${quoted(tag)}: change the texts where the flow has them, and remove these`
      yield error('same_locale', place, message)
    }
  }
}

/** Problems with a flow's texts in other languages. */
export function* textsProblems(flow: Told): Iterable<FlowProblem> {
  const { locale, texts } = flow
  if (!texts) return
  const units = textUnits(flow)
  for (const tag of Object.keys(texts)) {
    yield* superfluous(flow, tag, units)
    for (const unit of units.filter(({ isMarkdown }) => isMarkdown)) {
      const told = translationOf(texts[tag], unit)
      if (told !== null) yield* markdownProblems(told, pointerTo([tag, ...unit.path]))
    }
  }
  for (const { locale: tag, missing, of } of coverageOf(flow)) {
    if (missing.length === 0 || localeProblem(tag) !== null) continue
    const some = missing.slice(0, maxNamed).map(({ id }) => id)
    const more = missing.length > some.length ? ', …' : ''
    const message = `${missing.length} of ${of} texts are missing in ${quoted(tag)} (${some.join(', ')}${more}): visitors read them in ${quoted(locale ?? 'the flow’s own language')}`
    yield warning('missing_text', pointerTo([tag]), message)
  }
}

/** Texts for parts that the flow does not have: the key is mistyped, or the part was removed. */
function* superfluous(flow: Told, tag: string, units: readonly TextUnit[]): Iterable<FlowProblem> {
  const told = flow.texts![tag]!
  const known = new Set(units.map(({ path }) => pointerTo(path)))
  // The name of a tour, if no step has a heading.
  known.add('/texts/title')
  const lists = { steps: flow.steps, items: flow.checklist?.items ?? [] }
  const say = (path: Path, message: string) =>
    warning('superfluous_text', pointerTo([tag, ...path]), message)
  for (const list of ['steps', 'items'] as const) {
    const keys = lists[list].map(({ key }) => key)
    for (const key of Object.keys(told[list] ?? {})) {
      if (keys.includes(key)) continue
      const hint = didYouMean(key, keys) || ': remove it, or correct the key'
      const message = `The flow has no ${list === 'steps' ? 'step' : 'item'} ${quoted(key)}${hint}`
      yield say([list, key], message)
    }
  }
  for (const path of leavesOf(told)) {
    const [list, key] = path
    const isOfNone =
      (list === 'steps' || list === 'items') && !lists[list].some(part => part.key === key)
    if (isOfNone || known.has(pointerTo(path))) continue
    yield say(path, 'The flow has no such text: remove this translation')
  }
}

/** The paths of all texts, in a mapping of any depth that the schema allows. */
function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value === 'string') return [path]
  if (typeof value !== 'object' || value === null) return []
  const names = Array.isArray(value) ? value.map((_, i) => i) : Object.keys(value)
  return names.flatMap(name => leavesOf(at(value, [name]), [...path, name]))
}
