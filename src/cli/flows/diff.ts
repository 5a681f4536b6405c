import { flowDifference, type PartChanges } from '../../core/flow/difference.ts'
import type { FlowDefinition } from '../../core/flow/flow.ts'
import { painted, wantsColour } from '../../core/text/colour.ts'
import { withEscapes } from '../../core/text/unseen.ts'
import { exitStatus } from '../failure.ts'
import { printPainted } from '../output.ts'
import { option, row } from '../table.ts'
import { filesHelp, rightFiles } from './files.ts'
import { type Newest, newestOf, type StoredFlow, statusInWords, storedFlows } from './records.ts'

/** A flow of a file beside the stored flow of the same key, or a stored one without a file. */
interface Comparison {
  key: string
  change: 'new' | 'changed' | 'unchanged' | 'in no file'
  file: string | null
  /** The state of the stored flow that it was compared with; null if there is none. */
  against: Newest['state'] | null
  status: StoredFlow['status'] | null
  version: number | null
  steps: PartChanges | null
  items: PartChanges | null
  diff: string
}

export const diffRow = row<Comparison[]>({
  name: 'diff',
  summary: 'show what a push would change',
  about:
    'show what a push would change; exit status 0 for nothing, 1 for changes, 2 if files or ' +
    'data cannot be read',
  // As of diff(1) when it could not compare.
  failureStatus: exitStatus.usage,
  args: { '<file...>': filesHelp },
  options: [
    option('--published', 'compare with the published version, even if there is a newer draft'),
    option('--all', 'also list flows without a file, except archived ones'),
  ],
  async run(manager, { file, published = false, all, json }) {
    const files = rightFiles(file, { undone: 'compared nothing', json })
    const stored = new Map((await storedFlows(manager)).map(flow => [flow.key, flow]))
    const compared = files.flatMap(({ name, flows }) =>
      flows.map(flow => compare(name, flow, stored.get(flow.key), published)),
    )
    for (const { key } of compared) stored.delete(key)
    const others = [...stored.values()].filter(({ status }) => status !== 'archived')
    return all ? [...compared, ...others.flatMap(flow => inNoFile(flow, published))] : compared
  },
  check(comparisons) {
    const isChange = comparisons.some(({ change }) => change !== 'unchanged')
    if (isChange) process.exitCode = exitStatus.failure
  },
  // A diff ends with a line break, which separates it from the next flow.
  show: comparisons => printDiff(comparisons.flatMap(linesOf).join('\n').replace(/\n$/, '')),
  examples: [
    'cairn flows diff tour.yaml --org harbor',
    'cairn flows diff flows/*.yaml --published --all   whether files and pages have drifted apart',
  ],
})

function compare(
  file: string,
  flow: FlowDefinition,
  stored: StoredFlow | undefined,
  published: boolean,
): Comparison {
  const { key } = flow
  const newest = stored ? newestOf(stored, { published }) : null
  const { status = null, version = null } = stored ?? {}
  const known = { key, file, status, version }
  if (!stored || !newest) {
    return { ...known, change: 'new', against: null, steps: null, items: null, diff: '' }
  }
  const baseline = {
    definition: newest.definition,
    stepKeys: new Set(stored.publishedSteps),
    itemKeys: new Set(stored.publishedItems),
  }
  const difference = flowDifference(baseline, flow, [`${key} (${newest.state})`, file])
  const change = difference.diff === '' ? 'unchanged' : 'changed'
  return { ...known, change, against: newest.state, ...difference }
}

function inNoFile(stored: StoredFlow, published: boolean): Comparison[] {
  const newest = newestOf(stored, { published })
  if (!newest) return []
  const { key, status, version } = stored
  const nothing = { file: null, steps: null, items: null, diff: '' }
  return [{ key, change: 'in no file', against: newest.state, status, version, ...nothing }]
}

/** A comparison for people: what happens to the flow and to each step and item, and the diff. */
function linesOf(comparison: Comparison): string[] {
  const { key, change, steps, items, diff, version } = comparison
  const heading = `${key}: ${[change, ...remarks(comparison)].join(', ')}`
  if (change !== 'changed') return [heading]
  const isSeen = version !== null
  return [
    heading,
    ...partLines('step', steps!, isSeen && 'its results end'),
    ...partLines('item', items!, isSeen && 'its ticks end'),
    diff,
  ]
}

function remarks({ change, against, status, version, file }: Comparison): string[] {
  if (status === null) return [`from ${file}`]
  if (change === 'new') return [`not shown to visitors: it is ${statusInWords(status)}`]
  const archived = status === 'archived' ? ['which is archived'] : []
  const newest = against === 'draft' ? 'its draft' : `version ${version}`
  if (change === 'in no file') return [newest]
  if (change === 'changed') return [`against ${newest}`, ...archived]
  return against === 'draft' ? ['its draft is not published', ...archived] : archived
}

/** @param end what ends if a part is removed; false if visitors have not seen it */
export function partLines(
  what: 'step' | 'item',
  { added, returning, removed, moved }: PartChanges,
  end: string | false,
): string[] {
  const lines = (keys: readonly string[], words: string) =>
    keys.map(key => `  ${what} "${key}" ${words}`)
  return [
    ...lines(added, 'is new'),
    ...lines(returning, 'is back, with its old id'),
    ...lines(removed, end === false ? 'is removed' : `is removed: ${end}`),
    ...lines(moved, 'moves'),
  ]
}

/** Prints texts with unified diffs in them, in the usual colours on a terminal. */
export function printDiff(text: string): void {
  const escaped = withEscapes(text)
  printPainted(wantsColour(process.stdout, process.env) ? colouredDiff(escaped) : escaped)
}

/** The lines of a unified diff, in the usual colours. */
export function colouredDiff(diff: string): string {
  return diff.replace(/^.+$/gm, line => {
    if (/^(---|\+\+\+) /.test(line)) return painted(line, 'bold')
    if (line.startsWith('@@')) return painted(line, 'cyan')
    if (line.startsWith('-')) return painted(line, 'red')
    return line.startsWith('+') ? painted(line, 'green') : line
  })
}
