import { readConfig } from '../config/read-config.ts'
import {
  type Config,
  defaultOf,
  flagOf,
  type SettingName,
  settingNames,
  settings,
  variableOf,
} from '../config/settings.ts'
import type { Command } from './command.ts'
import { warn } from './failure.ts'

/** What a command says about a setting in its help, if that differs from other commands. */
export type OwnWords = Partial<Record<SettingName, { help?: string; default?: string }>>

/**
 * Adds the flags of settings to a command, and that of the settings file; each shows its default and its
 * variable.
 */
export function addSettings(
  command: Command,
  names: readonly SettingName[] = settingNames,
  own: OwnWords = {},
): Command {
  for (const name of new Set<SettingName>(['config', ...names])) {
    const flag = flagOf(name)
    const shown = own[name]?.default ?? defaultOf(name)
    const about = shown === null ? variableOf(name) : `${variableOf(name)}, default: ${shown}`
    if (flag) command.option(flag, `${own[name]?.help ?? settings[name].help} (${about})`)
  }
  return command
}

/** The settings that a command needs, from its flags and the environment. */
export function settingsOf<Name extends SettingName>(
  command: Command,
  ...names: Name[]
): Pick<Config, Name> {
  return readConfig({ flags: command.opts(), env: process.env }, names).config
}

/** All settings, for a command that serves. */
export const serverSettings = (command: Command) =>
  readConfig({ flags: command.opts(), env: process.env })

/** The same; also reports which variables mean nothing. */
export function serverSettingsOf(command: Command) {
  const read = serverSettings(command)
  for (const warning of read.warnings) warn(warning)
  return read
}
