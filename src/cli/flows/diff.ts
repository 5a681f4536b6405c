import type { Command } from 'commander'
import type { PartChanges } from '../../core/flow-difference.ts'
import { readFlows } from '../../storage/flow-reader.ts'
import { colouredDiff, wantsColour } from '../colour.ts'
import { organisationNamed, withData } from '../data.ts'
import { examples } from '../examples.ts'
import { CommandFailure, exitStatus, explained } from '../failure.ts'
import { print, printJson } from '../output.ts'
import { addSettings, settingsOf } from '../settings.ts'
import { type Comparison, compare } from './comparison.ts'
import { filesHelp, rightFiles } from './files.ts'
import { orgHelp } from './records.ts'

interface Options {
  org?: string
  published?: boolean
  all?: boolean
  json?: boolean
}

/** As diff(1) ends where it could not compare. */
const trouble = 2

export function addDiff(flows: Command): void {
  addSettings(flows.command('diff'), ['data'])
    .description(
      'show what pushing files would change; exit status 0 for nothing, 1 for something, ' +
        '2 where files or data cannot be read',
    )
    .argument('<file...>', filesHelp)
    .option('--org <org>', orgHelp)
    .option('--published', 'compare with what callers see, not with a newer draft')
    .option('--all', 'tell of flows that no file has, too; of archived ones never')
    .option(
      '--json',
      'print a JSON array, a flow each; where a file is wrong, what validate prints',
    )
    .addHelpText(
      'after',
      examples(
        'cairn flows diff tour.yaml --org harbor',
        'cairn flows diff flows/*.yaml --published --all   whether files and pages have drifted apart',
      ),
    )
    .action((paths: string[], options: Options, command: Command) =>
      orTrouble(async () => {
        const { published = false, all = false, json } = options
        const { data } = settingsOf(command, 'data')
        const files = rightFiles(paths, { undone: 'nothing was compared', json })
        const stored = await withData(data, database =>
          readFlows(database, organisationNamed(database, options.org).row),
        )
        const comparisons = compare(files, stored, { published, all })
        if (comparisons.some(({ change }) => change !== 'unchanged')) {
          process.exitCode = exitStatus.failure
        }
        if (json) return printJson(comparisons.map(shown))
        const isColoured = wantsColour(process.stdout, process.env)
        print(...comparisons.flatMap(comparison => linesOf(comparison, isColoured)))
      }),
    )
}

/** Status 1 is a difference here, so what fails for another reason ends with 2. */
async function orTrouble(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const { lines } = explained(error)
    throw new CommandFailure(lines.join('\n'), { status: trouble, cause: error })
  }
}

/** A comparison as `--json` shows it. */
function shown({ stored, difference, ...comparison }: Comparison) {
  const { steps = null, items = null, diff = '' } = difference ?? {}
  return { ...comparison, steps, items, diff }
}

/** A line for the flow, one for each step and item that comes, goes or moves, and the diff. */
function linesOf(comparison: Comparison, isColoured: boolean): string[] {
  const { key, change, difference } = comparison
  const heading = `${key}: ${[change, ...remarks(comparison)].join(', ')}`
  if (change !== 'changed' || !difference) return [heading]
  const { steps, items, diff } = difference
  const published = comparison.stored?.published ?? null
  const isSeen = (parts: readonly { key: string }[] = []) => new Set(parts.map(part => part.key))
  return [
    heading,
    ...partLines('step', steps, 'its funnel ends', isSeen(published?.steps)),
    ...partLines('item', items, 'its ticks end', isSeen(published?.checklist?.items)),
    isColoured ? colouredDiff(diff) : diff,
  ]
}

function remarks({ change, against, status, version, stored, file }: Comparison): string[] {
  const from = against === 'draft' ? 'the draft' : `version ${version}`
  if (change === 'in no file') return [`${status}, ${from}`]
  if (change === 'new') {
    if (stored) return [`callers do not see it: it is ${status}`]
    return file === null ? [] : [file]
  }
  const withdrawn = { draft: 'which no page shows', archived: 'which is archived', published: '' }
  const state = against === 'draft' || status === null ? '' : withdrawn[status]
  if (change === 'changed') return [`against ${from}`, state].filter(Boolean)
  return [against === 'draft' ? 'as the draft, which is not published yet' : state].filter(Boolean)
}

function partLines(
  what: 'step' | 'item',
  { added, returning, removed, moved }: PartChanges,
  end: string,
  seen: ReadonlySet<string>,
): string[] {
  const lines = (keys: string[], words: (key: string) => string) =>
    keys.map(key => `  ${what} "${key}" ${words(key)}`)
  return [
    ...lines(added, () => 'is new'),
    ...lines(returning, () => 'comes back, with the id that it had'),
    ...lines(removed, key => `disappears${seen.has(key) ? `: ${end}` : ''}`),
    ...lines(moved, () => 'moves'),
  ]
}
