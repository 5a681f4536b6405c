import type { Command } from './command.ts'
import { checkBackups, checkLeftovers } from './doctor/backup-check.ts'
import { checkDatabase } from './doctor/database-check.ts'
import { checkDirectory } from './doctor/directory-check.ts'
import { checkDisk, checkSyncs } from './doctor/disk-check.ts'
import {
  type Check,
  type DataSubject,
  error,
  type Finding,
  isReadableDirectory,
  type Subject,
} from './doctor/finding.ts'
import { checkLimits } from './doctor/limits-check.ts'
import { checkMachine, checkUnit, checkVersions } from './doctor/machine-check.ts'
import { checkPostgres } from './doctor/postgres-check.ts'
import { checkSchema } from './doctor/schema-check.ts'
import { checkServer, checkTokens } from './doctor/server-check.ts'
import { checkSettings } from './doctor/settings-check.ts'
import { exitStatus, explained } from './failure.ts'
import { counted, print, printJson } from './output.ts'
import { addSettings } from './settings.ts'

type Look<Of> = (subject: Of) => Finding[] | Promise<Finding[]>

/** A check that needs a directory it can read. If there is none, other checks report why. */
const onData =
  (check: Look<DataSubject>): Look<Subject> =>
  ({ data, ...subject }) =>
    data !== null && isReadableDirectory(data) ? check({ ...subject, data }) : []

/** A check of what is in the directory of a server alone, not of a node. */
const alone =
  (check: Look<Subject>): Look<Subject> =>
  subject =>
    subject.databaseUrl === null ? check(subject) : []

/** Every check, in the order of the answer, with the name under which it is reported if it fails itself. */
const checks: readonly [Check, Look<Subject>][] = [
  ['directory', checkDirectory],
  ['disk', checkDisk],
  ['disk', alone(onData(checkSyncs))],
  ['database', alone(onData(checkSchema))],
  ['database', alone(onData(checkDatabase))],
  ['database', checkPostgres],
  ['backup', checkBackups],
  ['directory', onData(checkLeftovers)],
  ['server', checkServer],
  ['limits', checkLimits],
  ['unit', checkUnit],
  ['issuer', checkTokens],
  ['memory', checkMachine],
]

export function addDoctor(cairn: Command): void {
  addSettings(cairn.command('doctor'))
    .description(
      'check settings, data and machine for problems; changes nothing; exit status 1 if there is an error',
    )
    .option('--full', 'check every page, index and reference of the database; slow on a large one')
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
      print(...findings.map(lineOf), '', summaryOf(findings))
    })
}

async function examine(flags: Record<string, unknown>, isFull: boolean): Promise<Finding[]> {
  const source = { flags, env: process.env }
  const { findings, subject } = checkSettings(source, { isFull, now: Date.now() })
  const all = [...checkVersions(), ...findings]
  for (const [name, check] of checks) {
    try {
      all.push(...(await check(subject)))
    } catch (fault) {
      all.push(error(name, explained(fault).lines.join(' '), null))
    }
  }
  return all
}

const lineOf = ({ status, what, advice }: Finding) =>
  `${status.padEnd(7)}  ${what}${advice === null ? '' : ` — ${advice}`}`

function summaryOf(findings: readonly Finding[]): string {
  const count = (wanted: Finding['status']) =>
    findings.filter(({ status }) => status === wanted).length
  const [errors, warnings] = [count('error'), count('warning')]
  if (errors + warnings === 0) return 'all is well'
  return `${counted(errors, 'error')}, ${counted(warnings, 'warning')}`
}
