import { Command as CommanderCommand, type ErrorOptions } from 'commander'

/** A command that can have the last parts of its help. */
export class Command extends CommanderCommand {
  override createCommand(name?: string): Command {
    return new Command(name)
  }

  private after = ''

  /** Example calls to copy. */
  examples(...lines: string[]): this {
    return this.notes(`Examples:\n${lines.map(line => `  ${line}`).join('\n')}`)
  }

  /** Further notes. */
  notes(text: string): this {
    this.after += `\n${text}\n`
    return this.addHelpText('after', `\n${text}`)
  }

  /** All that `--help` prints of it. */
  fullHelp(): string {
    return this.helpInformation() + this.after
  }

  /** Its name with those of the commands that it is below, such as `cairn token create`. */
  get path(): string {
    return this.parent ? `${(this.parent as Command).path} ${this.name()}` : this.name()
  }

  /** Every wrong use says where its help is; a word that is no command can be searched for. */
  override error(message: string, options?: ErrorOptions): never {
    const isSearch = options?.code === 'commander.unknownCommand' && this.parent === null
    const word = isSearch && /^[\w-]+$/.test(this.args[0] ?? '') ? this.args[0] : null
    const help = word ? `cairn help ${word}` : `${this.path} --help`
    return super.error(`${message.trim().replace(/\.$/, '')}; see "${help}"`, options)
  }
}

/** The options of a command by their names: those that take a text, and those that are given or not. */
export type Flags<Text extends string, Given extends string = never> = {
  [Name in Text]?: string
} & { [Name in Given]?: boolean }
