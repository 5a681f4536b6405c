import type { Command } from 'commander'
import { wantsColour } from '../../core/text/colour.ts'
import { examples } from '../examples.ts'
import { CommandFailure, exitStatus, explained } from '../failure.ts'
import { addManaged, managed } from '../manage.ts'
import { printJson, printPainted } from '../output.ts'
import { addSettings } from '../settings.ts'
import { type Comparison, compare } from './comparison.ts'
import { comparisonText } from './comparison-text.ts'
import { filesHelp, rightFiles } from './files.ts'
import { storedFlows } from './records.ts'

interface Options {
  published?: boolean
  all?: boolean
  json?: boolean
}

/** As diff(1) ends where it could not compare. */
const trouble = 2

export function addDiff(flows: Command): void {
  addManaged(addSettings(flows.command('diff'), ['data']))
    .summary('show what pushing files would change')
    .description(
      'show what pushing files would change; exit status 0 for nothing, 1 for something, ' +
        '2 where files or data cannot be read',
    )
    .argument('<file...>', filesHelp)
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
        const files = rightFiles(paths, { undone: 'nothing was compared', json })
        const stored = await managed(command, storedFlows)
        const comparisons = compare(files, stored, { published, all })
        if (comparisons.some(({ change }) => change !== 'unchanged')) {
          process.exitCode = exitStatus.failure
        }
        if (json) return printJson(comparisons.map(shown))
        const isColoured = wantsColour(process.stdout, process.env)
        const texts = comparisons.map(comparison => comparisonText(comparison, isColoured))
        // A diff ends its last line, which sets it off from the next flow.
        printPainted(texts.join('\n').replace(/\n$/, ''))
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
function shown({ key, change, file, stored, against, difference }: Comparison) {
  const { status = null, version = null } = stored ?? {}
  const { steps = null, items = null, diff = '' } = difference ?? {}
  return { key, change, file, against, status, version, steps, items, diff }
}
