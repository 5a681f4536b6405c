import {
  type FlowDifference,
  flowDifference,
  type PartChanges,
} from '../../core/flow/difference.ts'
import type { FlowDefinition } from '../../core/flow/flow.ts'
import { painted, wantsColour } from '../../core/text/colour.ts'
import { withEscapes } from '../../core/text/unseen.ts'
import type { Command, Flags } from '../command.ts'
import { CommandFailure, exitStatus, explained } from '../failure.ts'
import { addTarget, managed } from '../manage.ts'
import { printJson, printPainted } from '../output.ts'
import { filesHelp, type NamedFile, rightFiles } from './files.ts'
import { type Newest, newestOf, type StoredFlow, statusInWords, storedFlows } from './records.ts'

/** The exit status of diff(1) when it could not compare. */
const trouble = 2

export function addDiff(flows: Command): void {
  addTarget(
    flows
      .command('diff')
      .summary('show what pushing files would change')
      .description(
        'show what pushing files would change; exit status 0 for nothing, 1 for something, ' +
          '2 where files or data cannot be read',
      )
      .argument('<file...>', filesHelp)
      .option('--published', 'compare with the published version, not with a newer draft')
      .option('--all', 'tell of flows that no file has, too; of archived ones never')
      .option(
        '--json',
        'print a JSON array, one item per flow; if a file is wrong, what validate prints',
      ),
  )
    .examples(
      'cairn flows diff tour.yaml --org harbor',
      'cairn flows diff flows/*.yaml --published --all   whether files and pages have drifted apart',
    )
    .action(
      (paths: string[], options: Flags<never, 'published' | 'all' | 'json'>, command: Command) =>
        orTrouble(async () => {
          const { published = false, all = false, json } = options
          const files = rightFiles(paths, { undone: 'nothing was compared', json })
          const stored = await managed(command, storedFlows)
          const comparisons = compare(files, stored, { published, all })
          if (comparisons.some(({ change }) => change !== 'unchanged')) {
            process.exitCode = exitStatus.failure
          }
          if (json) return printJson(comparisons.map(shown))
          const isColoured = wantsColour(process.stdout, process.env)
          const texts = comparisons.map(comparison => comparisonText(comparison, isColoured))
          // A diff ends with a line break, which separates it from the next flow.
          printPainted(texts.join('\n').replace(/\n$/, ''))
        }),
    )
}

/** Status 1 means a difference here, so a failure for another reason ends with 2. */
async function orTrouble(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const { lines } = explained(error)
    throw new CommandFailure(lines.join('\n'), { status: trouble, cause: error })
  }
}

/** A comparison as `--json` shows it. */
function shown({ key, change, file, stored, against, difference }: Comparison) {
  const { status = null, version = null } = stored ?? {}
  const { steps = null, items = null, diff = '' } = difference ?? {}
  return { key, change, file, against, status, version, steps, items, diff }
}

/** A flow of a file, with the stored flow of the same key, or a stored one that no file has. */
interface Comparison {
  key: string
  change: 'new' | 'changed' | 'unchanged' | 'in no file'
  file: string | null
  stored: StoredFlow | null
  /** The state of the stored flow that it was compared with; null if there is none. */
  against: Newest['state'] | null
  difference: FlowDifference | null
}

interface Scope {
  /** Look at what callers see, not at drafts. */
  published: boolean
  /** Also report stored flows that no file has. */
  all: boolean
}

/** Every flow of the files, in their order, then those that no file has. */
function compare(
  files: readonly NamedFile[],
  stored: readonly StoredFlow[],
  scope: Scope,
): Comparison[] {
  const byKey = new Map(stored.map(flow => [flow.key, flow]))
  const compared = files.flatMap(({ name, flows }) =>
    flows.map(flow => compareOne(name, flow, byKey.get(flow.key) ?? null, scope)),
  )
  if (!scope.all) return compared
  const inFiles = new Set(compared.map(({ key }) => key))
  const others = stored.filter(({ key, status }) => !inFiles.has(key) && status !== 'archived')
  return [...compared, ...others.flatMap(flow => inNoFile(flow, scope))]
}

function compareOne(
  file: string,
  flow: FlowDefinition,
  stored: StoredFlow | null,
  scope: Scope,
): Comparison {
  const { key } = flow
  const newest = stored && newestOf(stored, scope)
  if (!newest) return { key, change: 'new', file, stored, against: null, difference: null }
  const { state: against, definition } = newest
  const names = [`${key} (${against})`, file] as const
  const baseline = {
    definition,
    stepKeys: new Set(stored.publishedSteps),
    itemKeys: new Set(stored.publishedItems),
  }
  const difference = flowDifference(baseline, flow, names)
  const change = difference.diff === '' ? 'unchanged' : 'changed'
  return { key, change, file, stored, against, difference }
}

function inNoFile(stored: StoredFlow, scope: Scope): Comparison[] {
  const newest = newestOf(stored, scope)
  if (!newest) return []
  const { key } = stored
  const against = newest.state
  return [{ key, change: 'in no file', file: null, stored, against, difference: null }]
}

/** A comparison for people, with its escapes: what happens to the flow and to each step and item, and the diff. */
function comparisonText(comparison: Comparison, isColoured: boolean): string {
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

/** Further facts about the flow, each to be put after a comma. */
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

/** @param seen the parts of the newest version, of which people's progress is known */
export function partLines(
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

/** The lines of a unified diff, in the usual colours. */
export function colouredDiff(diff: string): string {
  return diff.replace(/^.+$/gm, line => {
    if (/^(---|\+\+\+) /.test(line)) return painted(line, 'bold')
    if (line.startsWith('@@')) return painted(line, 'cyan')
    if (line.startsWith('-')) return painted(line, 'red')
    return line.startsWith('+') ? painted(line, 'green') : line
  })
}
