import { readFileSync, statSync } from 'node:fs'
import { maxSettingsBytes, readSettingsFile } from '../core/text/settings-file.ts'
import { nearest } from '../core/text/wording.ts'
import type { Setting } from './setting.ts'
import { flagOf, type SettingName, settingNames, settings, variableOf } from './settings.ts'

/** Where values come from: flags, variables, files that variables name, and the settings file. */

export interface ConfigSource {
  /** By setting name, as typed. */
  flags?: Readonly<Record<string, unknown>>
  env?: Variables
}

type Variables = Readonly<Record<string, string | undefined>>

/** With the lines of the settings file, which are named like variables. */
export interface Layers extends ConfigSource {
  file?: { path: string; variables: Variables }
}

/** Other variables that begin with CAIRN_ and have a meaning. */
const otherVariables = ['CAIRN_DEBUG', 'CAIRN_FAILPOINTS', 'CAIRN_TEST_NOW']

/** Why a file that a variable names gave no value, and what to do. */
const fileProblems: Record<string, string> = {
  ENOENT: 'which does not exist: create it, or name another',
  ENOTDIR: 'which does not exist: create it, or name another',
  EISDIR: 'which is a directory: name the file in it',
  EACCES: 'which this user cannot read: change its permissions',
  EPERM: 'which this user cannot read: change its permissions',
}

const unreadable = (code: string) => `which cannot be read (${code}): name another file`

/** The source of a value, and the value; null if there is none. An empty variable counts as unset. */
export function given(
  name: SettingName,
  { flags = {}, env = {}, file }: Layers,
  problems: string[],
) {
  const flag = flags[name]
  if (typeof flag === 'string') return { place: flagOf(name)?.split(' ')[0] ?? name, value: flag }
  const variable = variableOf(name)
  // A secret and its `_FILE` are one setting, so either in the environment overrides both in the file.
  if (!file || env[variable] || env[`${variable}_FILE`]) return givenBy(env, name, '', problems)
  return givenBy(file.variables, name, ` in ${file.path}`, problems)
}

/** @param where where the variables stand, so that a wrong one can be found */
function givenBy(env: Variables, name: SettingName, where: string, problems: string[]) {
  const variable = variableOf(name)
  const fileVariable = `${variable}_FILE`
  const value = env[variable] || null
  const file = ((settings[name] as Setting<unknown>).secret && env[fileVariable]) || null
  if (value !== null && file !== null) {
    problems.push(`${variable} and ${fileVariable}${where} are both set: unset one of them`)
    return null
  }
  if (file === null) return value === null ? null : { place: variable + where, value }
  const content = textOf(file, fileVariable + where, problems)
  return content === null
    ? null
    : { place: fileVariable + where, value: content.replace(/\r?\n$/, '') }
}

/** The text of a file that a setting names; null, with the problem added, if it cannot be read. */
function textOf(path: string, place: string, problems: string[]): string | null {
  try {
    const file = statSync(path)
    // A directory of many files has a size of its own.
    if (file.isDirectory() || file.size <= maxSettingsBytes) return readFileSync(path, 'utf8')
    problems.push(`${place} names ${path}, which is over 64 KiB: name another file`)
  } catch (error) {
    const { code = 'unknown' } = error as { code?: string }
    problems.push(`${place} names ${path}, ${fileProblems[code] ?? unreadable(code)}`)
  }
  return null
}

/** Adds the lines of the file that the setting `config` names. */
export function withFile(source: ConfigSource, problems: string[]): Layers {
  const named = given('config', source, problems)
  const path = named?.value
  const content = path === undefined ? null : textOf(path, named?.place ?? '', problems)
  if (path === undefined || content === null) return source
  const { settings: lines, faults } = readSettingsFile(content)
  problems.push(...faults.map(({ line, advice }) => `line ${line} of ${path}: ${advice}`))
  const variables = Object.fromEntries(lines.map(({ name, value }) => [name, value]))
  return { ...source, file: { path, variables } }
}

/** Warnings about unknown names. */
export const unknownNames = (layers: Layers): string[] => [
  ...unknownVariables(layers.env ?? {}),
  ...unknownLines(layers),
]

/** Unknown names in the settings file. */
function unknownLines({ file }: Layers): string[] {
  const known = knownVariables()
  known.delete(variableOf('config'))
  return Object.keys(file?.variables ?? {})
    .filter(name => !known.has(name))
    .map(name => {
      const place = `${name} in ${file?.path}`
      if (!name.startsWith('CAIRN_') || otherVariables.includes(name) || name === 'CAIRN_CONFIG') {
        return `${place} is ignored: set it in the environment`
      }
      return `${place} is not a setting of Cairn and is ignored: ${spelling(name)}`
    })
}

/** The variables of all settings. */
function knownVariables(): Set<string> {
  return new Set(
    settingNames.flatMap(name => {
      const { secret } = settings[name] as Setting<unknown>
      return secret ? [variableOf(name), `${variableOf(name)}_FILE`] : [variableOf(name)]
    }),
  )
}

function unknownVariables(env: Variables): string[] {
  const known = knownVariables()
  for (const name of otherVariables) known.add(name)
  return Object.keys(env)
    .filter(name => name.startsWith('CAIRN_') && !known.has(name))
    .map(name => `${name} is not a setting of Cairn and is ignored: ${spelling(name)}`)
}

/** Compares names without the prefix that all share, which would make any two seem alike. */
function spelling(name: string): string {
  const prefix = 'CAIRN_'
  const words = [...knownVariables()].map(known => known.slice(prefix.length))
  const near = nearest(name.slice(prefix.length), words)
  return near === null ? 'check its spelling' : `did you mean ${prefix}${near}?`
}
