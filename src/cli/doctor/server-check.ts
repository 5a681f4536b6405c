import { hostname } from 'node:os'
import { attempt } from '../../core/attempt.ts'
import { shown } from '../../core/text/wording.ts'
import { version } from '../../core/version.ts'
import { inspectValkey } from '../../limits/valkey-inspection.ts'
import type { AlertList } from '../../modules/alerts/schema.ts'
import type { Installation } from '../../modules/installation/schema.ts'
import { limitsServerOf } from '../../runtime/limiter.ts'
import { holderOf, isHeld, type LockHolder } from '../../runtime/lock.ts'
import type { StoragePlace } from '../../runtime/place.ts'
import { claimPorts } from '../../runtime/ports.ts'
import { tokenConflict } from '../../runtime/token-mode.ts'
import { databasePlace } from '../../storage/log/postgres/inspection.ts'
import { asking } from '../asking.ts'
import { allOrganisations, atDoor, operator, serverOf } from '../manage.ts'
import { ask, managementUrl } from '../management.ts'
import { error, type Finding, isUsableDirectory, ok, type Subject, warning } from './finding.ts'

/** Whether a server runs on the data directory, and is ready. */
export async function checkServer(subject: Subject): Promise<Finding[]> {
  const { data, config } = subject
  if (data === null) return []
  if (!isUsableDirectory(data)) return []
  const isRunning = isHeld(data)
  const holder = holderOf(data)
  // A command has no port.
  if (holder?.port === 0) return [ok('server', 'no server runs on it now')]
  if (!isRunning) return [notRunning(holder)]
  if (!holder) {
    const what = 'a server runs, but its address is unknown: server.json is missing'
    return [warning('server', what, 'restart it')]
  }
  const readiness = await checkReadiness(holder)
  const isReady = readiness.some(({ status }) => status === 'ok')
  const conflict = config && tokenConflict(holder.sessionTokens, config)
  return [
    ...checkPlace(holder, subject),
    ...readiness,
    ...(conflict ? [warning('issuer', conflict.what, conflict.fix)] : []),
    ...(isReady ? await checkOrganisations({ data, databaseUrl: subject.databaseUrl }) : []),
  ]
}

function notRunning(holder: LockHolder | null): Finding {
  if (!holder) return ok('server', 'no server runs on it now')
  const who = `process ${holder.pid} on ${holder.host}, since ${holder.startedAt}`
  const what = `no server runs on it; the last one (${who}) crashed or was killed`
  return warning('server', what, 'see its log for the cause, and start it with "cairn serve"')
}

/** Whether a server could listen, unless one does. @throws PortTaken */
export function checkPorts({ data, config }: Subject): Finding[] {
  if (config === null || (data !== null && attempt(() => isHeld(data), false))) return []
  claimPorts(config)
  // 0 takes any free one.
  const [api, management] = [config.port, config.managementPort].map(port => port || 'any free one')
  return [ok('ports', `a server could listen on ports ${api} and ${management}`)]
}

/** A server that was started with other settings works on other data. */
function checkPlace({ database = null }: LockHolder, { databaseUrl }: Subject): Finding[] {
  const ours = databaseUrl === null ? null : databasePlace(databaseUrl)
  if (database === ours) return []
  const placed = (place: string | null) =>
    place === null ? 'in its directory' : `in the database at ${place}`
  const what = `the running server has its data ${placed(database)}, but these settings have it ${placed(ours)}`
  const advice = "run this with the server's settings, or restart the server with these"
  return [warning('settings', what, advice)]
}

async function checkReadiness(holder: LockHolder): Promise<Finding[]> {
  const { pid, host, startedAt, managementHost, managementPort } = holder
  const who = `process ${pid} on ${host} serves since ${startedAt}`
  if (host !== hostname()) {
    const advice = `run "cairn doctor" there for more (this is ${hostname()})`
    return [warning('server', `${who}, which is another machine or container`, advice)]
  }
  const url = (path: string) => managementUrl(managementHost, managementPort, path)
  const [ready, health] = await Promise.all([ask(url('/readyz')), ask(url('/healthz'))])
  if (ready.status === null) {
    const what = `${who}, but does not answer on ${url('/readyz')} (${ready.answer})`
    return [error('server', what, 'see its log; if it hangs, stop it and start it again')]
  }
  // Another program may answer on that port by now.
  const reasons = shown(ready.answer.replaceAll('\n', '; '), 1_000)
  const findings = [judgeReadiness(who, ready.status, reasons)]
  const running = /^ok (\S+)/.exec(health.answer)?.[1]
  if (running !== undefined && running !== version) {
    const what = `the server is cairn ${running}, this is cairn ${version}`
    findings.push(warning('server', what, 'restart the server, or use its own cairn'))
  }
  return findings
}

/** @param reasons what /readyz says, which has its own advice */
function judgeReadiness(who: string, status: number, reasons: string): Finding {
  const [, problem] = /; warning: (.*)$/.exec(reasons) ?? []
  if (status === 200) {
    return problem === undefined
      ? ok('server', `${who} and is ready`)
      : warning('server', `${who} and is ready`, problem)
  }
  return error('server', `${who}, but is not ready`, reasons)
}

/** What the dashboard and "cairn org status" show each organisation, from the running server. */
async function checkOrganisations(place: StoragePlace): Promise<Finding[]> {
  if (!serverOf(place)) return []
  return atDoor(place, async send => {
    const findings: Finding[] = []
    for (const { id, slug } of await allOrganisations(asking(send, operator()))) {
      const manager = asking(send, { ...operator(), 'cairn-organisation': id })
      const install = await manager.ask<Installation>('GET /install')
      const alerts = await manager.ask<AlertList>('GET /alerts')
      const known = install.findings.filter(({ severity }) => severity !== 'info')
      const open = alerts.alerts.filter(({ state }) => state === 'open')
      for (const found of [...known, ...alerts.findings, ...open]) {
        const make = 'severity' in found && found.severity === 'error' ? error : warning
        const what = `${slug}: ${found.message.replace(/\.$/, '')}`
        findings.push(make('organisation', what, found.fix))
      }
    }
    return findings
  })
}

/** The server that counts requests, if there is one. */
export async function checkLimits({ config }: Subject): Promise<Finding[]> {
  const server = config && limitsServerOf(config)
  if (server === null) return []
  const { place, what, tookMs } = await inspectValkey(server)
  return [ok('limits', `limits are counted by ${what} at ${place}, in ${tookMs.toFixed(1)} ms`)]
}

/** Tokens end to the second, so a clock that is off by more ends them too early, or begins them too late. */
const maxSkewMs = 5_000

/** Whether session tokens can be verified, which takes an answer from the identity provider. */
export async function checkTokens({ config }: Subject): Promise<Finding[]> {
  if (config === null) return []
  // Loaded here, so that no other command waits for it.
  const { checkIssuer } = await import('../../runtime/identity-provider.ts')
  const { ok: isWell, detail, fix = null, clockSkewMs = 0 } = await checkIssuer(config)
  if (!isWell) return [error('issuer', detail, fix)]
  if (Math.abs(clockSkewMs) <= maxSkewMs) return [ok('issuer', detail)]
  const side = clockSkewMs > 0 ? 'behind' : 'ahead of'
  const seconds = Math.round(Math.abs(clockSkewMs) / 1_000)
  const what = `the clock of this machine is ${seconds} s ${side} the issuer's`
  const advice = 'keep both in sync with NTP: session tokens expire to the second'
  return [ok('issuer', detail), warning('clock', what, advice)]
}
