import { version } from '../core/version.ts'
import type { Command } from './command.ts'
import { checkBackups } from './doctor/backup-check.ts'
import { checkDatabase } from './doctor/database-check.ts'
import { checkDirectory, checkDisk } from './doctor/directory-check.ts'
import { type Check, error, type Finding, ok, type Subject } from './doctor/finding.ts'
import { checkPostgres } from './doctor/postgres-check.ts'
import { checkLimits, checkPorts, checkServer, checkTokens } from './doctor/server-check.ts'
import { checkSettings } from './doctor/settings-check.ts'
import { exitStatus, explained } from './failure.ts'
import { counted, print, printJson } from './output.ts'
import { addSettings } from './settings.ts'

/** Every check in the order of the output, with the name under which its own failure is reported. */
const checks: readonly [Check, (subject: Subject) => Finding[] | Promise<Finding[]>][] = [
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
      const isOk = !findings.some(({ status }) => status === 'error')
      if (!isOk) process.exitCode = exitStatus.failure
      if (options.json) return printJson({ ok: isOk, findings })
      print(...findings.flatMap(linesOf), '', summaryOf(findings))
    })
}

async function examine(flags: Record<string, unknown>, isFull: boolean): Promise<Finding[]> {
  const source = { flags, env: process.env }
  const { findings, subject } = checkSettings(source, { isFull, now: Date.now() })
  const all = [ok('versions', `cairn ${version}, Bun ${Bun.version}`), ...findings]
  for (const [name, check] of checks) {
    try {
      all.push(...(await check(subject)))
    } catch (problem) {
      const [what = '', ...advice] = explained(problem).lines.join(' ').split(': ')
      all.push(error(name, what, advice.join(': ') || null))
    }
  }
  return all
}

const linesOf = ({ status, what, advice }: Finding) => [
  `${status.padEnd(7)}  ${what}`,
  ...(advice === null ? [] : [`         ${advice}`]),
]

function summaryOf(findings: readonly Finding[]): string {
  const count = (wanted: Finding['status']) =>
    findings.filter(({ status }) => status === wanted).length
  const [errors, warnings] = [count('error'), count('warning')]
  if (errors + warnings === 0) return 'No problems found.'
  return `Found ${counted(errors, 'error')} and ${counted(warnings, 'warning')}.`
}
