import { InvalidArgumentError, Option } from 'commander'
import type { SettingName } from '../config/settings.ts'
import type { Command } from './command.ts'
import { CommandFailure, explained } from './failure.ts'
import { addTarget, type Manager, managed, operated, placeOf, requireServer } from './manage.ts'
import { cellOf, fieldLines, print, printJson, printTable } from './output.ts'
import { liveLine } from './progress.ts'
import { settingsOf } from './settings.ts'

/** The arguments, options and settings of one call, by their names in camel case. */
// biome-ignore lint/suspicious/noExplicitAny: every row knows what its own options are
export type Given = Record<string, any>

/** One command over the management API. */
// biome-ignore lint/suspicious/noExplicitAny: a row that reads its answer says what it is
export interface Row<Answer = any> {
  /** The word for it in its group, such as `list`. */
  name: string
  about: string
  /** For the list of commands, if `about` is too long for it. */
  summary?: string
  /** Such as `{ '<id>': 'as "cairn token list" shows it' }`. */
  args?: Readonly<Record<string, string>>
  options?: readonly Option[]
  /** Settings that it needs, each with a flag. */
  settings?: readonly SettingName[]
  examples: readonly string[]
  notes?: string

  /** A method and a path, such as `DELETE /tokens/:id`: `:id` is the argument of that name. */
  route?: string
  body?(given: Given): object
  /** A file to send in place of a JSON body. */
  bytes?(given: Given): Uint8Array<ArrayBuffer>
  query?(given: Given): Readonly<Record<string, string | undefined>>
  headers?: Readonly<Record<string, string>>
  /** In place of a single route. */
  run?(manager: Manager, given: Given, onProgress?: (now: never) => void): Promise<Answer>
  /** Default: `organisation`. `server` needs none, `here` cannot use a token. */
  scope?: 'organisation' | 'here' | 'server'
  /** Whether it needs a running server. */
  needsServer?: boolean
  /** The exit status of a failure, if 1 means something else. */
  failureStatus?: number
  /** Whether it makes the data directory if there is none. */
  makesData?: boolean
  /** What a terminal shows of the progress of long work. */
  // biome-ignore lint/suspicious/noExplicitAny: likewise
  progress?(progress: any): string

  /** The field of the answer that is the result, such as `tokens`. */
  part?: string
  /** The same, if `--json` prints the whole answer. */
  items?: string
  /** Columns of a list by their headings: a field of each item, or how to make the cell. */
  // biome-ignore lint/suspicious/noExplicitAny: likewise
  columns?: Readonly<Record<string, string | ((item: any) => unknown)>>
  /** What to print of an empty list. */
  none?: string | ((answer: Answer) => string)
  /** Prints the answer in place of its fields; of a list, what comes before it. */
  show?(answer: Answer, given: Given): void | Promise<void>
  /** Runs with or without `--json`: prints warnings, and sets the exit status. */
  check?(answer: Answer, given: Given): void
}

/** Keeps the type of a row's answer for `show` and `check`. */
export const row = <Answer>(one: Row<Answer>): Row<Answer> => one

interface OptionRules {
  choices?: readonly string[]
  /** As a user would type it. */
  default?: string
  /** @throws InvalidArgumentError */
  parse?(text: string): unknown
  isRequired?: boolean
}

/** An option of a row. */
export function option(flags: string, about: string, rules: OptionRules = {}): Option {
  const made = new Option(flags, about).makeOptionMandatory(rules.isRequired ?? false)
  if (rules.choices) made.choices(rules.choices)
  const { parse = (text: string) => text, default: usual } = rules
  if (rules.parse) made.argParser(parse)
  return usual === undefined ? made : made.default(parse(usual), usual)
}

export const whole = (min: number, max: number) => (text: string) => {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
}

interface Group {
  name: string
  about: string
  summary?: string
  examples: readonly string[]
  notes?: string
}

/** Adds a group of commands. */
export function addGroup(to: Command, group: Group, rows: readonly Row[] = []): Command {
  const { name, about, summary = '', examples, notes } = group
  const command = to
    .command(name)
    .helpCommand(false)
    .description(about)
    .examples(...examples)
  if (summary) command.summary(summary)
  if (notes) command.notes(notes)
  for (const one of rows) addRow(command, one)
  return command
}

const targets = {
  organisation: {},
  here: { url: false },
  server: { org: false },
}

/** Adds the command that a row describes. */
export function addRow(to: Command, one: Row): Command {
  const { name, about, summary = '', args = {}, options = [], settings = [], notes } = one
  const command = to.command(name).description(about)
  if (summary) command.summary(summary)
  for (const [argument, meaning] of Object.entries(args)) command.argument(argument, meaning)
  for (const added of options) command.addOption(added)
  command.option('--json', jsonHelp(one)).examples(...one.examples)
  addTarget(command, { ...targets[one.scope ?? 'organisation'], settings })
  if (notes) command.notes(notes)
  const { failureStatus: status } = one
  return command.action(() =>
    runRow(one, command).catch(error => {
      if (status === undefined) throw error
      throw new CommandFailure(explained(error).lines.join('\n'), { status, cause: error })
    }),
  )
}

const jsonHelp = ({ route, part }: Row) =>
  route === undefined
    ? 'print the result as JSON'
    : `print ${part ? `the ${part} of ` : ''}the response of ${route.replace(' /', ' /manage/')} as JSON`

async function runRow(one: Row, command: Command): Promise<void> {
  const { scope, settings = [] } = one
  const names = command.registeredArguments.map(argument => argument.name())
  const given: Given = {
    ...command.opts(),
    ...Object.fromEntries(names.map((name, at) => [name, command.processedArgs[at]])),
    ...settingsOf(command, ...settings),
  }
  const line = liveLine()
  // What is about no organisation reads none of a manager's own fields.
  const work = (manager: Manager) => {
    // For commands to copy.
    given.orgFlag = manager.isOnlyOne ? '' : ` --org ${manager.organisation}`
    return answerTo(one, manager, given, line.show)
  }
  if (one.needsServer && given.url === undefined) requireServer(placeOf(command))
  const answer = await (scope === 'server'
    ? operated(placeOf(command, one.makesData), asker => work(asker as Manager))
    : managed(command, work)
  ).finally(line.end)
  one.check?.(answer, given)
  const { part, items = part, columns, none = '' } = one
  if (given.json) return printJson(part === undefined ? answer : answer[part])
  if (one.show) await one.show(answer, given)
  else if (!columns) print(...fieldLines(answer))
  if (!columns) return
  printItems(columns, answer[items!], typeof none === 'string' ? none : none(answer))
}

function answerTo(one: Row, manager: Manager, given: Given, show: (line: string) => void) {
  const { progress } = one
  const onProgress = progress && ((now: never) => show(progress(now)))
  if (one.run) return one.run(manager, given, onProgress)
  const path = one.route!.replace(/:(\w+)/g, (_, name) => encodeURIComponent(given[name]))
  const queried = Object.entries(one.query?.(given) ?? {}).filter(
    ([, value]) => value !== undefined,
  )
  const query = new URLSearchParams(queried as [string, string][]).toString()
  return manager.ask(query === '' ? path : `${path}?${query}`, {
    ...(one.body && { body: one.body(given) }),
    ...(one.bytes && { bytes: one.bytes(given) }),
    ...(one.headers && { headers: one.headers }),
    ...(onProgress && { onProgress }),
  })
}

function printItems(
  columns: NonNullable<Row['columns']>,
  items: readonly Given[],
  none: string,
): void {
  const rows = items.map(item =>
    Object.values(columns).map(column =>
      cellOf(typeof column === 'string' ? item[column] : column(item)),
    ),
  )
  printTable(Object.keys(columns), rows, none)
}
