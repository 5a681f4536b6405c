import { resolve } from 'node:path'
import { ConfigError, readConfig } from '../config/read-config.ts'
import type { Config } from '../config/settings.ts'
import { attempt } from '../core/attempt.ts'
import { secureUrl } from '../core/organisation/addresses.ts'
import { version } from '../core/version.ts'
import type { Command } from './command.ts'
import { checkBackups } from './doctor/backups.ts'
import { checkDatabase } from './doctor/database.ts'
import { checkDirectory, checkDisk } from './doctor/directory.ts'
import { type Check, error, type Finding, ok, type Subject, warning } from './doctor/findings.ts'
import { checkPostgres } from './doctor/postgres.ts'
import { checkLimits, checkPorts, checkServer, checkTokens } from './doctor/server.ts'
import { exitStatus, explained } from './failure.ts'
import { counted, print, printJson } from './output.ts'
import { addSettings } from './settings.ts'

/** Every check in the order of the output, with the name under which its own failure is reported. */
const checks: readonly [Check, (subject: Subject) => Iterable<Finding> | AsyncIterable<Finding>][] =
  [
    ['directory', checkDirectory],
    ['disk', checkDisk],
    ['database', checkDatabase],
    ['database', checkPostgres],
    ['backup', checkBackups],
    ['server', checkServer],
    ['ports', checkPorts],
    ['limits', checkLimits],
    ['issuer', checkTokens],
  ]

export function addDoctor(cairn: Command): void {
  addSettings(cairn.command('doctor'))
    .description(
      'find problems of settings, data and server; changes nothing; exit status 1 if there is an error',
    )
    .option('--full', 'check every page, index and reference of the database; slow for a large one')
    .option(
      '--json',
      'print {ok, findings: [{status, check, what, advice}]} as JSON; status is ok, warning or error',
    )
    .examples(
      'cairn doctor',
      'cairn doctor --data /var/lib/cairn --full',
      'cairn doctor --json | jq \'.findings[] | select(.status != "ok")\'',
    )
    .action(async (options: { full?: boolean; json?: boolean }, command: Command) => {
      const findings = await examine(command.opts(), options.full === true)
      const count = (wanted: Finding['status']) =>
        findings.filter(({ status }) => status === wanted).length
      const [errors, warnings] = [count('error'), count('warning')]
      if (errors > 0) process.exitCode = exitStatus.failure
      if (options.json) return printJson({ ok: errors === 0, findings })
      print(
        ...findings.flatMap(({ status, what, advice }) => [
          `${status.padEnd(7)}  ${what}`,
          ...(advice === null ? [] : [`         ${advice}`]),
        ]),
        '',
        errors + warnings === 0
          ? 'No problems found.'
          : `Found ${counted(errors, 'error')} and ${counted(warnings, 'warning')}.`,
      )
    })
}

async function examine(flags: Record<string, unknown>, isFull: boolean): Promise<Finding[]> {
  const findings = [ok('versions', `cairn ${version}, Bun ${Bun.version}`)]
  const subject = { isFull, now: Date.now(), ...readSettings(flags, findings) }
  for (const [name, check] of checks) {
    try {
      for await (const finding of check(subject)) findings.push(finding)
    } catch (problem) {
      const [what = '', ...advice] = explained(problem).lines.join(' ').split(': ')
      findings.push(error(name, what, advice.join(': ') || null))
    }
  }
  return findings
}

/** Variables for tests, which no server should have. */
const testVariables = {
  CAIRN_FAILPOINTS: 'CAIRN_FAILPOINTS is set. It makes servers fail in tests.',
  CAIRN_TEST_NOW: 'CAIRN_TEST_NOW is set. It gives Cairn another time in tests.',
}

/** The settings as a server would read them, or those that are valid if some are not. */
function readSettings(flags: Record<string, unknown>, findings: Finding[]) {
  const source = { flags, env: process.env }
  // A settings file that cannot be read is reported with the settings.
  const unknown = attempt(() => readConfig(source, []).warnings, [])
  findings.push(...unknown.map(line => withAdvice(warning, line)))
  for (const [name, what] of Object.entries(testVariables)) {
    if (process.env[name]) findings.push(warning('settings', what, 'Unset it.'))
  }
  const data = attempt(() => readConfig(source, ['data']).config.data, null)
  const place = {
    // As a full path, so that a wrong working directory is noticed.
    data: data === null ? null : resolve(data),
    databaseUrl: attempt(() => readConfig(source, ['databaseUrl']).config.databaseUrl, null),
  }
  try {
    const { config, given } = readConfig(source)
    const what = `Settings: ${counted(given.size, 'setting')} set, the others have their defaults`
    findings.push(ok('settings', what), ...publicUrlProblems(config))
    return { ...place, config }
  } catch (problem) {
    if (!(problem instanceof ConfigError)) throw problem
    findings.push(...problem.lines.map(line => withAdvice(error, line)))
    return { ...place, config: null }
  }
}

/** Over plain HTTP, anyone on the network path can read and set the dashboard's cookie. */
function publicUrlProblems({ dashboard, publicUrl }: Config): Finding[] {
  if (dashboard === 'off' || publicUrl === null || secureUrl(publicUrl)) return []
  const what = `The dashboard at ${publicUrl} is not encrypted: others on the network can read its cookie.`
  const advice = 'Put TLS in front, and set CAIRN_PUBLIC_URL to the https address.'
  return [warning('settings', what, advice)]
}

/** Problems of settings have their advice after the last colon. */
function withAdvice(make: typeof warning, line: string): Finding {
  const at = line.lastIndexOf(': ')
  return at < 0 ? make('settings', line) : make('settings', line.slice(0, at), line.slice(at + 2))
}
