import type { Command as AnyCommand } from 'commander'
import { didYouMean } from '../core/text/wording.ts'
import { commit, version } from '../core/version.ts'
import { compiledTexts } from '../manual/compile.ts' with { type: 'macro' }
import type { Command } from './command.ts'
import { UsageFailure } from './failure.ts'
import { columns, print, printJson } from './output.ts'

const topicTexts = compiledTexts()
const topicNames = Object.keys(topicTexts)

/** The topics of the manual, as the program's own help lists them. */
export const topicList = () => {
  const rows = topicNames.map(name => [name, topicTexts[name]!.title])
  const lines = columns(rows).map(line => `  ${line}`)
  return ['', 'Topics of the manual ("cairn help TOPIC", or /docs in a browser):', ...lines].join(
    '\n',
  )
}

/** The command below `cairn` that a sequence of words names. */
function commandOf(cairn: AnyCommand, names: readonly string[]): AnyCommand {
  let command = cairn
  for (const name of names) {
    const below = command.commands.find(sub => sub.name() === name)
    if (!below) {
      const known = command.commands.map(sub => sub.name())
      if (names.length === 1) known.push(...topicNames)
      const hint = didYouMean(name, known) || ': see "cairn help"'
      throw new UsageFailure(`there is no command "${name.slice(0, 60)}"${hint}`)
    }
    command = below
  }
  return command
}

/** `cairn help flows push`, for people who do not think of `--help`, and the manual's topics. */
export function addHelp(cairn: Command): void {
  cairn
    .command('help')
    .description('print the help of a command, as --help does, or a topic of the manual')
    .argument('[name...]', 'a command and its subcommand, or a topic')
    .examples('cairn help', 'cairn help serve', 'cairn help flows push', 'cairn help deploy')
    .action((names: string[]) => {
      const [name = ''] = names
      const topic = names.length === 1 && Object.hasOwn(topicTexts, name) ? topicTexts[name] : null
      const isCommand = cairn.commands.some(command => command.name() === name)
      // If a word is both a command and a topic, both are printed.
      if (!topic || isCommand) commandOf(cairn, names).outputHelp()
      if (topic) print(...(isCommand ? [''] : []), topic.text.trimEnd())
    })
}

export function addVersion(cairn: Command): void {
  cairn
    .command('version')
    .description('print the version, with the commit it was built from')
    .option('--json', 'print {version, commit, bun} as JSON')
    .examples('cairn version', 'cairn version --json')
    .action(({ json }: { json?: boolean }) => {
      if (json) printJson({ version, commit, bun: Bun.version })
      else print(`cairn ${version}`)
    })
}
