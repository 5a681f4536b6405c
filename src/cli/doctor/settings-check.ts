import { resolve } from 'node:path'
import {
  type Config,
  ConfigError,
  type ConfigSource,
  readConfig,
  type SettingName,
} from '../../config.ts'
import { counted } from '../output.ts'
import { error, type Finding, ok, type Subject, warning } from './finding.ts'

/** Reads the settings as a server would, and what can be read of them where some are wrong. */
export function checkSettings(
  source: ConfigSource,
  asked: Pick<Subject, 'isFull' | 'now'>,
): { findings: Finding[]; subject: Subject } {
  const findings = warningsOf(source).map(line => asFinding(warning, line))
  if (source.env?.CAIRN_FAILPOINTS) {
    const what = 'CAIRN_FAILPOINTS is set, by which tests make a server fail'
    findings.push(warning('settings', what, 'unset it'))
  }
  const data = settingIn(source, 'data')
  const subject = {
    ...asked,
    // In full: a wrong working directory is soon seen then.
    data: data === null ? null : resolve(data),
    bufferBytes: settingIn(source, 'bufferBytes'),
  }
  try {
    const { config, given } = readConfig(source)
    const said = `${counted(given.size, 'setting')} given, the others at their defaults`
    findings.push(ok('settings', said))
    return { findings, subject: { ...subject, config } }
  } catch (fault) {
    if (!(fault instanceof ConfigError)) throw fault
    findings.push(...fault.lines.map(line => asFinding(error, line)))
    return { findings, subject: { ...subject, config: null } }
  }
}

/** What means nothing; a settings file that cannot be read is told of with the settings. */
function warningsOf(source: ConfigSource): readonly string[] {
  try {
    return readConfig(source, []).warnings
  } catch {
    return []
  }
}

/** The sentences of the configuration have their advice behind the last colon. */
function asFinding(make: typeof warning, line: string): Finding {
  const at = line.lastIndexOf(': ')
  return at < 0
    ? make('settings', line, null)
    : make('settings', line.slice(0, at), line.slice(at + 2))
}

function settingIn<Name extends SettingName>(
  source: ConfigSource,
  name: Name,
): Config[Name] | null {
  try {
    return readConfig(source, [name]).config[name]
  } catch {
    return null
  }
}
