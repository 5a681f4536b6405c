import type { Command } from 'commander'
import { didYouMean } from '../core/wording.ts'
import { examples } from './examples.ts'
import { UsageFailure } from './failure.ts'

/** `cairn help flows push`, for those who do not think of `--help`. */
export function addHelp(cairn: Command): void {
  cairn
    .command('help')
    .description('print what a command does, as --help after it')
    .argument('[command...]', 'a command, and the one below it')
    .addHelpText('after', examples('cairn help', 'cairn help serve', 'cairn help flows push'))
    .action((names: string[]) => {
      let command = cairn
      for (const name of names) {
        const below = command.commands.find(sub => sub.name() === name)
        if (!below) {
          const known = command.commands.map(sub => sub.name())
          const hint = didYouMean(name, known) || ': see "cairn help"'
          throw new UsageFailure(`there is no command "${name.slice(0, 60)}"${hint}`)
        }
        command = below
      }
      command.outputHelp()
    })
}
