import { Command as CommanderCommand } from 'commander'

/** A command that can have the last parts of its help. */
export class Command extends CommanderCommand {
  override createCommand(name?: string): Command {
    return new Command(name)
  }

  /** Example calls to copy. */
  examples(...lines: string[]): this {
    return this.addHelpText('after', `\nExamples:\n${lines.map(line => `  ${line}`).join('\n')}`)
  }

  /** Further notes. */
  notes(text: string): this {
    return this.addHelpText('after', `\n${text}`)
  }
}

/** The options of a command by their names: those that take a text, and those that are given or not. */
export type Flags<Text extends string, Given extends string = never> = {
  [Name in Text]?: string
} & { [Name in Given]?: boolean }
