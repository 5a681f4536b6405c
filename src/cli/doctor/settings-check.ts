import { resolve } from 'node:path'
import { ConfigError, readConfig } from '../../config/read-config.ts'
import type { Config } from '../../config/settings.ts'
import type { ConfigSource } from '../../config/sources.ts'
import { attempt } from '../../core/attempt.ts'
import { secureUrl } from '../../core/organisation/secure-url.ts'
import { counted } from '../output.ts'
import { error, type Finding, ok, type Subject, warning } from './finding.ts'

/** Variables for tests, which no server should have. */
const testSwitches = {
  CAIRN_FAILPOINTS: 'CAIRN_FAILPOINTS is set: for tests, it makes a server fail',
  CAIRN_TEST_NOW:
    'CAIRN_TEST_NOW is set: for tests, it gives Cairn another time than the machine has',
}

/** Reads the settings as a server would, or those that can be read if some are wrong. */
export function checkSettings(
  source: ConfigSource,
  options: Pick<Subject, 'isFull' | 'now'>,
): { findings: Finding[]; subject: Subject } {
  // A settings file that cannot be read is reported with the settings.
  const unknown = attempt(() => readConfig(source, []).warnings, [])
  const findings = unknown.map(line => findingOf(warning, line))
  for (const [name, what] of Object.entries(testSwitches)) {
    if (source.env?.[name]) findings.push(warning('settings', what, 'unset it'))
  }
  const data = attempt(() => readConfig(source, ['data']).config.data, null)
  const subject = {
    ...options,
    // As a full path, so that a wrong working directory is soon noticed.
    data: data === null ? null : resolve(data),
    databaseUrl: attempt(() => readConfig(source, ['databaseUrl']).config.databaseUrl, null),
  }
  try {
    const { config, given } = readConfig(source)
    const what = `${counted(given.size, 'setting')} given, the others at their defaults`
    findings.push(ok('settings', what), ...checkPublicUrl(config))
    return { findings, subject: { ...subject, config } }
  } catch (problem) {
    if (!(problem instanceof ConfigError)) throw problem
    findings.push(...problem.lines.map(line => findingOf(error, line)))
    return { findings, subject: { ...subject, config: null } }
  }
}

/** Over plain http, anybody on the network path can read the dashboard's cookie, and can set one. */
function checkPublicUrl({ dashboard, publicUrl }: Config): Finding[] {
  if (dashboard === 'off' || publicUrl === null || secureUrl(publicUrl)) return []
  const what = `the dashboard is at ${publicUrl}, where anybody on the network can read its cookie`
  const advice = 'put TLS in front, and set CAIRN_PUBLIC_URL to the https address'
  return [warning('settings', what, advice)]
}

/** The configuration's sentences have their advice after the last colon. */
function findingOf(make: typeof warning, line: string): Finding {
  const at = line.lastIndexOf(': ')
  return at < 0 ? make('settings', line) : make('settings', line.slice(0, at), line.slice(at + 2))
}
