import { resolve } from 'node:path'
import { ConfigError, readConfig } from '../../config/read-config.ts'
import type { Config } from '../../config/settings.ts'
import type { ConfigSource } from '../../config/sources.ts'
import { attempt } from '../../core/attempt.ts'
import { secureUrl } from '../../core/organisation/secure-url.ts'
import { counted } from '../output.ts'
import { error, type Finding, ok, type Subject, warning } from './finding.ts'

/** Reads the settings as a server would, or those that can be read if some are wrong. */
export function checkSettings(
  source: ConfigSource,
  asked: Pick<Subject, 'isFull' | 'now'>,
): { findings: Finding[]; subject: Subject } {
  const findings = warningsOf(source).map(line => asFinding(warning, line))
  if (source.env?.CAIRN_FAILPOINTS) {
    const what = 'CAIRN_FAILPOINTS is set, by which tests make a server fail'
    findings.push(warning('settings', what, 'unset it'))
  }
  if (source.env?.CAIRN_TEST_NOW) {
    const what =
      'CAIRN_TEST_NOW is set: for tests, it gives Cairn another time than the machine has'
    findings.push(warning('settings', what, 'unset it'))
  }
  const data = attempt(() => readConfig(source, ['data']).config.data, null)
  const subject = {
    ...asked,
    // As a full path, so that a wrong working directory is soon noticed.
    data: data === null ? null : resolve(data),
    databaseUrl: attempt(() => readConfig(source, ['databaseUrl']).config.databaseUrl, null),
    bufferBytes: attempt(() => readConfig(source, ['bufferBytes']).config.bufferBytes, null),
  }
  try {
    const { config, given } = readConfig(source)
    const said = `${counted(given.size, 'setting')} given, the others at their defaults`
    findings.push(ok('settings', said), ...checkPublicUrl(config))
    return { findings, subject: { ...subject, config } }
  } catch (fault) {
    if (!(fault instanceof ConfigError)) throw fault
    findings.push(...fault.lines.map(line => asFinding(error, line)))
    return { findings, subject: { ...subject, config: null } }
  }
}

/** Over plain http, anybody on the network path can read the dashboard's cookie, and can set one. */
function checkPublicUrl({ dashboard, publicUrl }: Config): Finding[] {
  if (dashboard === 'off' || publicUrl === null || secureUrl(publicUrl)) return []
  const what = `the dashboard is at ${publicUrl}, where anybody on the way can read its cookie`
  return [
    warning('settings', what, 'put TLS in front, and set CAIRN_PUBLIC_URL to the https address'),
  ]
}

/** Names that mean nothing. A settings file that cannot be read is reported with the settings. */
const warningsOf = (source: ConfigSource) => attempt(() => readConfig(source, []).warnings, [])

/** The configuration's sentences have their advice after the last colon. */
function asFinding(make: typeof warning, line: string): Finding {
  const at = line.lastIndexOf(': ')
  return at < 0
    ? make('settings', line, null)
    : make('settings', line.slice(0, at), line.slice(at + 2))
}
