import type { TSchema } from '@sinclair/typebox'
import { didYouMean, quoted } from '../core/text/wording.ts'
import { UsageFailure } from './failure.ts'
import type { Manager } from './manage.ts'
import { cellOf, fieldLines, print } from './output.ts'
import type { Given, Row } from './table.ts'

/** A settings object of the API, for three commands: `settings` shows it, `set` and `unset` change a field. */
interface SettingsObject {
  /** Such as `cairn org`. */
  command: string
  /** For the help: what is set. */
  what: string
  /** Of the body that changes it. */
  schema: TSchema
  read: string
  change: string
  /** Fields that a change replaces as a whole, though they have fields of their own. */
  whole?: readonly string[]
  /** Reads a field of those from a file, whose name follows `@`. */
  fromFile?(file: string): object
  /** What to say to people of the settings. */
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows its settings
  show?(settings: any): void
  /** What to say after a change. */
  // biome-ignore lint/suspicious/noExplicitAny: likewise
  changed?(key: string, settings: any, manager: Manager): Promise<void> | void
  examples: readonly (readonly [key: string, value: string])[]
}

/** A field that can be set: its name with dots, and its schema without null. */
interface Field {
  key: string
  schema: TSchema
  isNullable: boolean
}

/** A schema without null and without the choices beside it, such as `inherit`. */
const withoutNull = (schema: TSchema): TSchema => {
  const branches = (schema.anyOf ?? []).filter(({ type }: TSchema) => type !== 'null')
  return branches.length === 1 ? { ...branches[0], description: schema.description } : schema
}

/** Every field, each object before its own fields. */
function fieldsOf(holder: TSchema, above = ''): Field[] {
  return Object.entries<TSchema>(holder.properties).flatMap(([name, declared]) => {
    const schema = withoutNull(declared)
    const key = `${above}${name}`
    const field = { key, schema, isNullable: schema !== declared }
    return schema.type === 'object' ? [field, ...fieldsOf(schema, `${key}.`)] : [field]
  })
}

const booleans: Readonly<Record<string, boolean>> = {
  true: true,
  on: true,
  false: false,
  off: false,
}

/** The value of a field as its schema wants it. @throws UsageFailure if it has another type */
export function valueFrom({ key, schema }: Field, texts: readonly string[]): unknown {
  if (schema.type === 'array') return texts
  if (schema.type === 'object') {
    throw new UsageFailure(`${key} has several fields: set one of them, such as ${key}.…`)
  }
  const [text = '', ...more] = texts
  if (more.length > 0) throw new UsageFailure(`${key} takes one value: put quotes around it`)
  if (schema.type === 'integer') {
    if (/^-?\d{1,15}$/.test(text)) return Number(text)
    throw new UsageFailure(`${key} must be a whole number, not "${text.slice(0, 20)}"`)
  }
  if (schema.type !== 'boolean') return text
  const value = booleans[text]
  if (value !== undefined) return value
  throw new UsageFailure(`${key} must be true or false, not "${text.slice(0, 20)}"`)
}

/** The value of a field that was never set. @throws UsageFailure if it must have one */
function unsetValueOf({ key, schema, isNullable }: Field): unknown {
  if (isNullable) return null
  if (schema.type === 'array') return []
  if (schema.type === 'boolean') return false
  throw new UsageFailure(`${key} always has a value: set another`)
}

/** An object with another value in one field, given by its path; an undefined value removes it. */
function withValue(object: Given, [name = '', ...rest]: string[], value: unknown): Given {
  const { [name]: before, ...others } = object
  if (rest.length > 0) return { ...others, [name]: withValue(before ?? {}, rest, value) }
  return value === undefined ? others : { ...others, [name]: value }
}

const valueAt = (object: Given, path: readonly string[]): unknown =>
  path.reduce<Given | null>((held, name) => held?.[name] ?? null, object)

/** A table of two columns within the width of a terminal, whose second column wraps. */
function helpTable(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([term]) => term.length)) + 4
  const lines = rows.flatMap(([term, text]) => {
    const wrapped = text.match(new RegExp(`(?:\\S.{0,${78 - width}})(?=\\s|$)`, 'g')) ?? ['']
    return wrapped.map((line, at) => `${(at === 0 ? `  ${term}` : '').padEnd(width)}${line}`)
  })
  return lines.map(line => line.trimEnd()).join('\n')
}

function helpOf({ schema }: Field): string {
  const words = (schema.anyOf ?? []).flatMap((one: TSchema) => ('const' in one ? [one.const] : []))
  const choices = words.length > 0 ? `One of: ${words.join(', ')}.` : ''
  return [schema.description ?? '', choices].filter(Boolean).join(' ')
}

/** The commands for a settings object. */
export function settingRows(of: SettingsObject): Row[] {
  const fields = fieldsOf(of.schema)
  const { whole = [], show = () => {} } = of
  const fieldNamed = (key: string) => {
    const found = fields.find(field => field.key === key)
    if (found) return found
    const keys = fields.map(field => field.key)
    const hint = didYouMean(key, keys) || `: "${of.command} set --help" lists all`
    throw new UsageFailure(`unknown setting ${quoted(key)}${hint}`)
  }
  const isWhole = (key: string) => whole.includes(key.split('.')[0]!)
  /** @param value undefined for a field that is to be removed */
  async function change(manager: Manager, key: string, value: unknown) {
    const path = key.split('.')
    const [first = '', ...rest] = path
    let body = withValue({}, path, value)
    if (isWhole(key) && rest.length > 0) {
      const settings = await manager.ask<Given>(of.read)
      body = { [first]: withValue(settings[first] ?? {}, rest, value) }
    }
    const settings = await manager.ask<Given>(of.change, { body })
    await of.changed?.(key, settings, manager)
    return settings
  }
  const printField = (key: string, settings: Given) =>
    print(`Set ${key} to ${cellOf(valueAt(settings, key.split('.')))}.`)
  return [
    {
      name: 'settings',
      about: `show ${of.what}`,
      route: of.read,
      show(settings) {
        print(...fieldLines(settings))
        show(settings)
      },
      examples: [`${of.command} settings`, `${of.command} settings --json`],
    },
    {
      name: 'set',
      about: `set one of ${of.what}`,
      args: {
        '<key>': 'name of the setting, see below',
        '<value...>': 'value, or several for a list',
      },
      run: (manager, { key, value }) => {
        const field = fieldNamed(key)
        const [file = ''] = value
        if (isWhole(key) && file.startsWith('@'))
          return change(manager, key, of.fromFile!(file.slice(1)))
        return change(manager, key, valueFrom(field, value))
      },
      show(settings, { key }) {
        printField(key, settings)
        show(settings)
      },
      examples: of.examples.map(([key, value]) => `${of.command} set ${key} ${value}`),
      notes: helpTable(fields.map(field => [field.key, helpOf(field)])),
    },
    {
      name: 'unset',
      about: `set one of ${of.what} back to its default`,
      args: { '<key>': `its name, as "${of.command} settings" shows it` },
      run: (manager, { key }) => {
        const field = fieldNamed(key)
        const isPart = isWhole(key) && key.includes('.')
        return change(manager, key, isPart ? undefined : unsetValueOf(field))
      },
      show: (settings, { key }) => printField(key, settings),
      examples: of.examples.slice(0, 1).map(([key]) => `${of.command} unset ${key}`),
    },
  ]
}
