import type { TObject, TSchema } from '@sinclair/typebox'
import { Option } from 'commander'
import { describeProblem } from '../core/flow/file.ts'
import type { Plain } from '../core/flow/minimal.ts'
import { valueLines } from '../core/flow/text.ts'
import { Theme } from '../core/flow/theme.ts'
import { readThemeFile } from '../core/flow/theme-file.ts'
import { themeProblems } from '../core/flow/theme-rules.ts'
import type { Settings } from '../modules/organisations/model.ts'
import type { Command } from './command.ts'
import { CommandFailure, UsageFailure, warn } from './failure.ts'
import { readTextFile } from './files.ts'
import { managedOrg, orgCommand } from './manage.ts'
import { print, printJson, tell } from './output.ts'

/** One field of a theme that an option sets. */
interface Field {
  path: readonly string[]
  /** Such as `--dark-accent`. */
  flag: string
  schema: TSchema
}

const behindNull = (schema: TSchema): TSchema =>
  schema.anyOf?.find((branch: TSchema) => branch.type !== 'null' && !('const' in branch)) ?? schema

const kebab = (name: string) => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

/** All fields, as the schema has them. */
function fieldsOf(holder: TObject, path: readonly string[] = []): Field[] {
  return Object.entries(holder.properties).flatMap(([name, schema]) => {
    const at = [...path, name]
    if (schema.type === 'object') return fieldsOf(schema as TObject, at)
    return [{ path: at, flag: `--${at.map(kebab).join('-')}`, schema }]
  })
}

const fields = fieldsOf(Theme)

const wordsOf = ({ anyOf = [] }: TSchema): string[] =>
  anyOf.flatMap((branch: TSchema) => ('const' in branch ? [branch.const] : []))

/** In lower case and without a full stop, as in the help of options. */
const helpOf = ({ schema }: Field) =>
  String(schema.description)
    .replace(/^[A-Z](?![A-Z])/, first => first.toLowerCase())
    .replace(/\.$/, '')

const placeholders: Readonly<Record<string, string>> = {
  family: 'fonts',
  label: 'text',
  logo: 'address',
}

function placeholderOf({ path, schema }: Field): string {
  if (wordsOf(schema).length > 0) return wordsOf(schema).join('|')
  return behindNull(schema).type === 'integer' ? 'n' : (placeholders[path.at(-1)!] ?? 'colour')
}

function valueIn({ flag, schema }: Field, text: string): Plain {
  if (text === 'default') return null
  if (behindNull(schema).type !== 'integer') return text
  if (/^\d{1,10}$/.test(text)) return Number(text)
  throw new UsageFailure(`${flag} "${text.slice(0, 20)}": set a whole number, or "default"`)
}

type Mapping = { [name: string]: Plain }

/** A theme with other values in some fields; fields that are null are removed. */
function withFields(theme: Mapping, changes: readonly (readonly [Field, Plain])[]): Mapping {
  const changed = structuredClone(theme)
  for (const [{ path }, value] of changes) {
    const [first = '', second] = path
    if (second === undefined && value === null) delete changed[first]
    else if (second === undefined) changed[first] = value
    else {
      const { [second]: _, ...rest } = (changed[first] ?? {}) as Mapping
      changed[first] = value === null ? rest : { ...rest, [second]: value }
    }
  }
  return changed
}

/** The theme of a file; what is wrong in it is reported line by line. @throws CommandFailure */
function themeIn(path: string): Theme {
  const file = readTextFile(path)
  const format = path.endsWith('.json') ? 'json' : 'yaml'
  const { theme, problems } =
    'problem' in file
      ? { theme: null, problems: [file.problem] }
      : readThemeFile(file.text, { format })
  const lines = problems.map(problem => describeProblem(problem, file.name))
  if (theme === null) {
    throw new CommandFailure(
      ['the theme was not changed, because there are mistakes to fix', ...lines].join('\n'),
    )
  }
  tell(...lines)
  return theme
}

function warnOf(theme: Theme): void {
  for (const { code, path, message } of themeProblems(theme)) warn(`${code} ${path} ${message}`)
}

/** Without fields that are null, as a file would have it. */
const brief = (theme: Theme): Mapping =>
  Object.fromEntries(Object.entries(theme).filter(([, value]) => value !== null)) as Mapping

type Options = Record<string, string | undefined> & { reset?: boolean; json?: boolean }

export function addTheme(org: Command): void {
  const command = orgCommand(org, 'theme')
    .description("show or set how an organisation's flows look")
    .option('--file <file>', 'a theme as YAML, or JSON by its ending; "-" for the standard input')
    .option('--reset', "remove the theme: back to the snippet's own look")
  for (const field of fields) {
    command.addOption(new Option(`${field.flag} <${placeholderOf(field)}>`, helpOf(field)))
  }
  command
    .option('--json', 'print {id, slug, theme} as JSON, null where none is set')
    .examples(
      'cairn org theme harbor',
      'cairn org theme harbor --preset calm --accent "#0b7285" --logo /logo.svg',
      'cairn org theme harbor --dark-background "#14202a" --dark-accent "#3bc9db"',
      'cairn org theme harbor --radius default',
      'cairn org theme harbor --file theme.yaml',
      'cairn org theme harbor --reset',
    )
    .notes(`Options change the fields that they name, and "default" resets one; a file
replaces them all. A flow's own theme overrides it, field by field, and CSS such
as --cairn-accent on a page overrides both: "cairn help theme".`)
    .action(async (name: string | undefined, options: Options, self: Command) => {
      const changes = fields.flatMap((field): [Field, Plain][] => {
        const text = options[optionName(field)]
        return text === undefined ? [] : [[field, valueIn(field, text)]]
      })
      const { file, reset, json } = options
      if ([file !== undefined, reset, changes.length > 0].filter(Boolean).length > 1) {
        throw new UsageFailure('give only one of --file, --reset or fields')
      }
      const given = file === undefined ? null : themeIn(file)
      const isChange = given !== null || reset || changes.length > 0
      const { id, slug, theme } = await managedOrg(self, name, async ({ ask }) => {
        const before = await ask<Settings>('GET /settings')
        if (!isChange) return before
        const changed = reset
          ? null
          : (given ?? withFields((before.theme ?? {}) as Mapping, changes))
        return ask<Settings>('PATCH /settings', { body: { theme: changed } })
      })
      if (theme && isChange && given === null) warnOf(theme)
      if (json) return printJson({ id, slug, theme })
      if (theme === null) return print("none: the snippet's own look")
      print(
        ...Object.entries(brief(theme)).flatMap(([field, value]) =>
          valueLines(`${field}:`, value, ''),
        ),
      )
    })
}

/** The name that Commander gives the option. */
const optionName = ({ flag }: Field) => new Option(`${flag} <value>`).attributeName()
