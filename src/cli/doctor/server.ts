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
import {
  error,
  type Finding,
  type Findings,
  isUsableDirectory,
  ok,
  type Subject,
  warning,
} from './findings.ts'

/** Whether a server runs on the data directory, and is ready. */
export async function* checkServer({
  data,
  config,
  databaseUrl,
}: Subject): AsyncGenerator<Finding> {
  if (data === null || !isUsableDirectory(data)) return
  const holder = holderOf(data)
  // A command has no port.
  if (holder?.port === 0) return yield notRunning
  if (!isHeld(data)) return yield holder ? crashed(holder) : notRunning
  if (!holder) {
    return yield warning(
      'server',
      'A server is running, but server.json is missing.',
      'Restart it.',
    )
  }
  const [own = null, ours] = [holder.database, databaseUrl && databasePlace(databaseUrl)]
  if (own !== ours) {
    const [one, other] = [own, ours].map(place => place ?? 'its directory')
    // A server that was started with other settings uses other data.
    const what = `The running server has its data in ${one}, these settings name ${other}.`
    const advice = "Run this with the server's settings, or restart the server."
    yield warning('settings', what, advice)
  }
  const readiness = await checkReadiness(holder)
  yield* readiness
  const conflict = config && tokenConflict(holder.sessionTokens, config)
  if (conflict) yield warning('issuer', conflict.what, conflict.fix)
  if (readiness.some(({ status }) => status === 'ok')) {
    yield* await checkOrganisations({ data, databaseUrl })
  }
}

const notRunning = ok('server', 'No server is running')

function crashed({ pid, host, startedAt }: LockHolder): Finding {
  const what = `No server is running. The last one (process ${pid} on ${host}, started ${startedAt}) crashed or was killed.`
  return warning('server', what, 'See its log for the cause, and start it with "cairn serve".')
}

/** Whether a server could listen, unless one does. @throws PortTaken */
export function* checkPorts({ data, config }: Subject): Findings {
  if (config === null || (data !== null && attempt(() => isHeld(data), false))) return
  claimPorts(config)
  const [api, management] = [config.port, config.managementPort].map(port => port || 'any')
  yield ok('ports', `Free ports: ${api}, ${management}`)
}

async function checkReadiness(holder: LockHolder): Promise<Finding[]> {
  const { pid, host, startedAt, managementHost, managementPort } = holder
  const server = `Server process ${pid} on ${host}, started ${startedAt}`
  if (host !== hostname()) {
    const advice = `Run "cairn doctor" there for more (this is ${hostname()}).`
    return [warning('server', `${server}: another machine or container`, advice)]
  }
  const url = (path: string) => managementUrl(managementHost, managementPort, path)
  const [ready, health] = await Promise.all([ask(url('/readyz')), ask(url('/healthz'))])
  if (ready.status === null) {
    const what = `${server}: no response from ${url('/readyz')} (${ready.answer})`
    return [error('server', what, 'See its log. If it hangs, restart it.')]
  }
  // Another program may have the port by now.
  const reasons = shown(ready.answer.replaceAll('\n', '; '), 1_000)
  const [, problem = null] = /; warning: (.*)$/.exec(reasons) ?? []
  const findings = [
    ready.status !== 200
      ? error('server', `${server}: not ready`, reasons)
      : (problem === null ? ok : warning)('server', `${server}: ready`, problem),
  ]
  const running = /^ok (\S+)/.exec(health.answer)?.[1]
  if (running !== undefined && running !== version) {
    const what = `The server is cairn ${running}, this is cairn ${version}.`
    findings.push(warning('server', what, 'Restart the server, or use its own cairn.'))
  }
  return findings
}

/** The problems of each organisation that the dashboard and "cairn org status" show. */
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
        const what = `${slug}: ${found.message}`
        findings.push(make('organisation', what, found.fix))
      }
    }
    return findings
  })
}

/** The server that counts requests, if there is one. */
export async function* checkLimits({ config }: Subject): AsyncGenerator<Finding> {
  const server = config && limitsServerOf(config)
  if (server === null) return
  const { place, what, tookMs } = await inspectValkey(server)
  yield ok('limits', `Limits are counted by ${what} at ${place} in ${tookMs.toFixed(1)} ms`)
}

/** Tokens expire to the second, so a larger difference ends them too early, or starts them too late. */
const maxSkewMs = 5_000

/** Whether session tokens can be verified, which needs a response of the identity provider. */
export async function* checkTokens({ config }: Subject): AsyncGenerator<Finding> {
  if (config === null) return
  // Loaded here, so that no other command waits for it.
  const { checkIssuer } = await import('../../runtime/identity-provider.ts')
  const { ok: isHealthy, detail, fix = null, clockSkewMs = 0 } = await checkIssuer(config)
  if (!isHealthy) return yield error('issuer', detail, fix)
  yield ok('issuer', detail)
  if (Math.abs(clockSkewMs) <= maxSkewMs) return
  const side = clockSkewMs > 0 ? 'behind' : 'ahead of'
  const seconds = Math.round(Math.abs(clockSkewMs) / 1_000)
  const what = `The clock of this machine is ${seconds} s ${side} the issuer's.`
  yield warning('clock', what, 'Synchronise both with NTP.')
}
