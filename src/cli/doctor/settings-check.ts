import { resolve } from 'node:path'
import { ConfigError, readConfig } from '../../config/read-config.ts'
import type { Config } from '../../config/settings.ts'
import type { ConfigSource } from '../../config/sources.ts'
import { attempt } from '../../core/attempt.ts'
import { secureUrl } from '../../core/organisation/addresses.ts'
import { counted } from '../output.ts'
import { error, type Finding, ok, type Subject, warning } from './finding.ts'

/** Variables for tests, which no server should have. */
const testVariables = {
  CAIRN_FAILPOINTS: 'CAIRN_FAILPOINTS is set. It makes servers fail in tests.',
  CAIRN_TEST_NOW: 'CAIRN_TEST_NOW is set. It gives Cairn another time in tests.',
}

/** Reads the settings as a server would, or those that are valid if some are not. */
export function checkSettings(
  source: ConfigSource,
  options: Pick<Subject, 'isFull' | 'now'>,
): { findings: Finding[]; subject: Subject } {
  // A settings file that cannot be read is reported with the settings.
  const unknown = attempt(() => readConfig(source, []).warnings, [])
  const findings = unknown.map(line => findingOf(warning, line))
  for (const [name, what] of Object.entries(testVariables)) {
    if (source.env?.[name]) findings.push(warning('settings', what, 'Unset it.'))
  }
  const data = attempt(() => readConfig(source, ['data']).config.data, null)
  const subject = {
    ...options,
    // As a full path, so that a wrong working directory is noticed.
    data: data === null ? null : resolve(data),
    databaseUrl: attempt(() => readConfig(source, ['databaseUrl']).config.databaseUrl, null),
  }
  try {
    const { config, given } = readConfig(source)
    const what = `Settings: ${counted(given.size, 'setting')} set, the others have their defaults`
    findings.push(ok('settings', what), ...checkPublicUrl(config))
    return { findings, subject: { ...subject, config } }
  } catch (problem) {
    if (!(problem instanceof ConfigError)) throw problem
    findings.push(...problem.lines.map(line => findingOf(error, line)))
    return { findings, subject: { ...subject, config: null } }
  }
}

/** Over plain HTTP, anyone on the network path can read and set the dashboard's cookie. */
function checkPublicUrl({ dashboard, publicUrl }: Config): Finding[] {
  if (dashboard === 'off' || publicUrl === null || secureUrl(publicUrl)) return []
  const what = `The dashboard at ${publicUrl} is not encrypted: others on the network can read its cookie.`
  const advice = 'Put TLS in front, and set CAIRN_PUBLIC_URL to the https address.'
  return [warning('settings', what, advice)]
}

/** Problems of settings have their advice after the last colon. */
function findingOf(make: typeof warning, line: string): Finding {
  const at = line.lastIndexOf(': ')
  return at < 0 ? make('settings', line) : make('settings', line.slice(0, at), line.slice(at + 2))
}
