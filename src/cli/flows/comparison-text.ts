import type { PartChanges } from '../../core/flow/difference.ts'
import { withEscapes } from '../../core/text/unseen.ts'
import { colouredDiff } from './coloured-diff.ts'
import type { Comparison } from './comparison.ts'
import { statusInWords } from './records.ts'

/** A comparison for people, with its escapes: what happens to the flow, to each step and item, and the diff. */
export function comparisonText(comparison: Comparison, isColoured: boolean): string {
  const { key, change, difference, stored } = comparison
  const heading = [change, ...remarks(comparison)].join(', ')
  const lines = [`${key}: ${heading}`]
  if (change !== 'changed' || !difference) return withEscapes(lines.join('\n'))
  const { steps, items, diff } = difference
  const { steps: seenSteps = [], checklist } = stored?.published ?? {}
  lines.push(
    ...partLines('step', steps, 'its funnel ends', seenSteps),
    ...partLines('item', items, 'its ticks end', checklist?.items ?? []),
    diff,
  )
  const text = withEscapes(lines.join('\n'))
  return isColoured ? colouredDiff(text) : text
}

/** What else is worth knowing about the flow, each to stand after a comma. */
function remarks({ change, against, stored, file }: Comparison): string[] {
  if (!stored) return file === null ? [] : [`from ${file}`]
  const { status, version } = stored
  const newest = against === 'draft' ? 'its draft' : `version ${version}`
  const state = {
    draft: against === 'draft' ? [] : ['which no page shows'],
    published: [],
    archived: ['which is archived'],
  }[status]
  if (change === 'new') return [`no page shows it now: it is ${statusInWords(status)}`]
  if (change === 'in no file') return [newest, ...state]
  if (change === 'changed') return [`against ${newest}`, ...state]
  return against === 'draft' ? ['as its draft, which is not published yet', ...state] : state
}

/** @param seen the parts that the newest version has: of these, people's progress is known */
function partLines(
  what: 'step' | 'item',
  { added, returning, removed, moved }: PartChanges,
  end: string,
  seen: readonly { key: string }[],
): string[] {
  const isSeen = (key: string) => seen.some(part => part.key === key)
  const lines = (keys: string[], words: (key: string) => string) =>
    keys.map(key => `  ${what} "${key}" ${words(key)}`)
  return [
    ...lines(added, () => 'is new'),
    ...lines(returning, () => 'comes back, with the id that it had'),
    ...lines(removed, key => (isSeen(key) ? `disappears: ${end}` : 'disappears')),
    ...lines(moved, () => 'moves'),
  ]
}
