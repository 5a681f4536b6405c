import { shownAddress } from '../core/organisation/addresses.ts'
import { crossCheck } from './consistency.ts'
import { type Setting, Wrong } from './setting.ts'
import { type Config, type SettingName, settingNames, settings } from './settings.ts'
import { type ConfigSource, given, unknownNames, withFile } from './sources.ts'

/** Everything that is wrong with the configuration: one line each, which says what to do. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(readonly lines: readonly string[]) {
    super(lines.length === 1 ? lines[0] : `${lines.length} settings are wrong\n${lines.join('\n')}`)
  }
}

export interface ReadConfig<Names extends SettingName> {
  config: Pick<Config, Names>
  /** Settings that a flag or variable gave. */
  given: ReadonlySet<SettingName>
  warnings: readonly string[]
}

/**
 * Reads all settings, or those that are named.
 *
 * @throws ConfigError with every mistake at once
 */
export function readConfig<Names extends SettingName = SettingName>(
  source: ConfigSource,
  names: readonly Names[] = settingNames as Names[],
): ReadConfig<Names> {
  const problems: string[] = []
  const found = new Set<SettingName>()
  const config: Record<string, unknown> = {}
  const layers = withFile(source, problems)
  for (const name of names) {
    const { parse, default: fallback, secret } = settings[name] as Setting<unknown>
    const source_ = given(name, layers, problems)
    if (source_) found.add(name)
    const value = source_?.value ?? fallback
    const parsed = value === null ? null : parse(value)
    if (parsed instanceof Wrong) {
      const is = secret ? parsed.is : `is "${shownAddress(value ?? '').slice(0, 60)}"`
      problems.push(`${source_?.place} ${is}: ${parsed.advice}`)
    } else config[name] = parsed
  }
  crossCheck(config as Partial<Config>, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return {
    config: Object.freeze(config) as Pick<Config, Names>,
    given: found,
    warnings: unknownNames(layers),
  }
}
