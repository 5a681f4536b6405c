import { readFileSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../config/settings.ts'
import { attempt } from '../../core/attempt.ts'
import { shown } from '../../core/text/wording.ts'
import { minuteMs } from '../../core/time/durations.ts'
import { version } from '../../core/version.ts'
import { holderOf, isHeld, type LockHolder } from '../../runtime/lock.ts'
import { claimPort, claimPorts, managementPortSetting, portSetting } from '../../runtime/ports.ts'
import { tokenConflict } from '../../runtime/token-mode.ts'
import { databasePlace } from '../../storage/log/postgres/inspection.ts'
import { explained } from '../failure.ts'
import { ask, managementUrl } from '../management.ts'
import { counted } from '../output.ts'
import { error, type Finding, isReadableDirectory, ok, type Subject, warning } from './finding.ts'
import { MetricsPage } from './metrics-page.ts'

/** The process that serves from a data directory of this machine, if one does. */
export function serverProcess(data: string | null): number | null {
  const holder = data === null ? null : holderOf(data)
  return holder && isAlive(holder) ? holder.pid : null
}

/** Whether a server runs on the data directory, and its state. */
export async function checkServer(subject: Subject): Promise<Finding[]> {
  const { data, config } = subject
  if (data === null) return []
  if (!isReadableDirectory(data)) return checkPorts(config)
  let isServed: boolean
  try {
    isServed = isHeld(data)
  } catch (fault) {
    return [unreadableLock(data, fault)]
  }
  const holder = holderOf(data)
  if (!isServed) return [notServed(holder), ...checkPorts(config)]
  if (!holder) {
    const advice =
      'if "cairn healthcheck" does not find it, look for the process that has server.lock open'
    return [
      warning(
        'server',
        'a server runs, but its address is unknown: server.json is missing',
        advice,
      ),
    ]
  }
  const conflict = config && tokenConflict(holder.sessionTokens, config)
  return [
    ...checkPlace(holder, subject),
    ...(await checkHolder(holder, subject)),
    ...(conflict ? [warning('issuer', conflict.what, conflict.fix)] : []),
  ]
}

/** A command has no port. */
const isCommand = ({ port }: LockHolder) => port === 0

/** A server that was started with other settings works on other data. */
function checkPlace({ database = null }: LockHolder, { databaseUrl }: Subject): Finding[] {
  const ours = databaseUrl === null ? null : databasePlace(databaseUrl)
  if (database === ours) return []
  const placed = (place: string | null) =>
    place === null ? 'in its directory' : `in the database at ${place}`
  const what = `the running server has its data ${placed(database)}, but these settings have it ${placed(ours)}`
  return [
    warning(
      'settings',
      what,
      "run this with the server's settings, or restart the server with these",
    ),
  ]
}

async function checkHolder(holder: LockHolder, { config, now }: Subject): Promise<Finding[]> {
  const who = `process ${holder.pid} on ${holder.host} serves since ${holder.startedAt}`
  if (holder.host !== hostname()) {
    const advice = `run "cairn doctor" there for more (this is ${hostname()})`
    return [warning('server', `${who}, which is another machine or container`, advice)]
  }
  if (isCommand(holder)) {
    const what = `no server runs on it; a command works on it (process ${holder.pid}, since ${holder.startedAt})`
    return [ok('server', what)]
  }
  if (!isAlive(holder)) {
    const advice = 'look for another process that has server.lock open'
    return [
      warning('server', `according to server.json, ${who}, but there is no such process`, advice),
    ]
  }
  const { managementHost: managedAt, managementPort, pid, startedAt } = holder
  return [
    ...(await askServer(who, path => managementUrl(managedAt, managementPort, path), config)),
    ...checkSteps(pid, startedAt, now),
  ]
}

function unreadableLock(data: string, fault: unknown): Finding {
  const { cause, code: own } = fault as { cause?: { code?: string }; code?: string }
  const code = String(cause?.code ?? own)
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) {
    const advice = `stop the server if one runs, and remove ${join(data, 'server.lock')}`
    return error('server', `server.lock is not the lock of a server (${code})`, advice)
  }
  const advice = 'run this as the user that the server runs as'
  return error('server', `server.lock cannot be read by this user (${code})`, advice)
}

function notServed(holder: LockHolder | null): Finding {
  if (!holder) return ok('server', 'no server runs on it now')
  const { pid, host, startedAt } = holder
  const who = `process ${pid} on ${host}, since ${startedAt}`
  if (isCommand(holder)) {
    const what = `no server runs on it; a command (${who}) was interrupted or killed`
    return warning('server', what, 'nothing is to be cleaned up; run the command again if need be')
  }
  const what = `no server runs on it; the last one (${who}) did not shut down properly: it crashed, or was killed`
  const advice =
    'see its log for the cause; nothing is to be cleaned up, start it with "cairn serve"'
  return warning('server', what, advice)
}

/** Whether a server could listen, if none runs on this data directory. */
function checkPorts(config: Config | null): Finding[] {
  if (config === null) return []
  const { host, port, managementHost, managementPort } = config
  const faults = [
    portFaultOf(() => claimPort(host, port, portSetting)),
    portFaultOf(() => claimPort(managementHost, managementPort, managementPortSetting)),
  ].filter(fault => fault !== null)
  if (faults.length > 0) return faults
  // Each may be free, and yet both be the same.
  const clash = portFaultOf(() => claimPorts(config))
  if (clash) return [clash]
  // 0 takes any free one.
  const [api, management] = [port, managementPort].map(wanted => wanted || 'any free one')
  return [ok('ports', `a server could listen on ports ${api} and ${management}`)]
}

function portFaultOf(claim: () => unknown): Finding | null {
  try {
    claim()
    return null
  } catch (fault) {
    return error('ports', explained(fault).lines.join(' '), null)
  }
}

/** Signal 0 only asks whether a process exists; one of another user is alive too. */
function isAlive({ pid, host }: LockHolder): boolean {
  if (host !== hostname()) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (fault) {
    return (fault as { code?: string }).code === 'EPERM'
  }
}

/** Characters; a server that has answered on every route sends some ten thousand. */
const mostMetrics = 1_000_000

async function askServer(
  who: string,
  url: (path: string) => string,
  config: Config | null,
): Promise<Finding[]> {
  const [ready, health, metrics] = await Promise.all([
    ask(url('/readyz')),
    ask(url('/healthz')),
    ask(url('/metrics'), mostMetrics),
  ])
  if (ready.status === null) {
    const what = `${who}, but does not answer on ${url('/readyz')} (${ready.answer})`
    return [error('server', what, 'see its log; if it hangs, stop it and start it again')]
  }
  // Another program may answer on that port by now.
  const state = shown(ready.answer.replaceAll('\n', '; '), 1_000)
  const page = new MetricsPage(metrics.answer)
  const findings = [readiness(who, ready.status, state, gaugesIn(page))]
  const running = /^ok (\S+)/.exec(health.answer)?.[1]
  if (running !== undefined && running !== version) {
    const what = `the server is cairn ${running}, this is cairn ${version}`
    findings.push(warning('server', what, 'restart the server, or use its own cairn'))
  }
  return [
    ...findings,
    ...checkRefusals(page),
    ...checkFilesInUse(page),
    ...checkTakenUp(page, config?.config ?? null),
  ]
}

function readiness(who: string, status: number, state: string, gauges: string): Finding {
  const [, problem] = /; (warning: .*)$/.exec(state) ?? []
  if (status === 200 && problem !== undefined) {
    return warning(
      'server',
      `${who} and is ready${gauges}; ${problem}`,
      'see that the database runs',
    )
  }
  if (status === 200) return ok('server', `${who} and is ready${gauges}`)
  const what = `${who}, but is not ready: ${state}${gauges}`
  if (state.startsWith('erasing: ')) {
    return warning('server', what, 'it will be ready when that is done')
  }
  return error('server', what, 'see its log for the cause')
}

/** A full buffer or a disk that refuses may be over by now, but callers have seen the refusals all the same. */
function checkRefusals(metrics: MetricsPage): Finding[] {
  const count = metrics.sum('cairn_http_requests_total', ({ status }) => status === '503')
  if (count === 0) return []
  const what = `the server has answered ${counted(count, 'request')} by 503 since its start, because its buffer was full or storage refused`
  return [warning('server', what, 'its log says which and when; callers send them again')]
}

const nearlyAll = 0.8

/** Every connection is an open file. Without one to spare, no new client is answered. */
function checkFilesInUse(metrics: MetricsPage): Finding[] {
  const [open, most] = ['process_open_fds', 'process_max_fds'].map(name => metrics.gauge(name))
  if (!open || !most || open < most * nearlyAll) return []
  const what = `the server has ${open} files and connections open, of at most ${most}`
  return [warning('open_files', what, 'raise LimitNOFILE, or look who holds so many connections')]
}

/** Whether the server runs with the current contents of its settings file. */
function checkTakenUp(metrics: MetricsPage, file: string | null): Finding[] {
  if (metrics.gauge('cairn_config_last_reload_successful') === 0) {
    const what = 'the server found its new settings wrong, and goes on with those of before'
    return [warning('settings', what, 'its log says which; correct them, and reload it again')]
  }
  const readAt = metrics.gauge('cairn_config_last_reload_success_timestamp_seconds')
  const changedAt =
    file === null ? null : (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null)
  if (readAt === null || changedAt === null || changedAt <= readAt * 1_000) return []
  const what = `${file} was changed after the running server read it`
  return [warning('settings', what, 'have it read again: "systemctl reload cairn", or SIGHUP')]
}

/** How many events wait for their commit, if the server says so. */
function gaugesIn(metrics: MetricsPage): string {
  const events = metrics.gauge('cairn_buffer_events')
  return events === null ? '' : ` (${counted(events, 'event')} in the buffer)`
}

/** Ticks per second in `/proc/<pid>/stat`, the same on every Linux that Bun runs on. */
const ticksPerSecond = 100

/**
 * Whether the clock was stepped while a process ran. Compares the time that it noted at its start with the
 * time now less its age, which no setting of the clock changes. Known only on Linux.
 *
 * @param startedAt RFC 3339
 * @param now Unix milliseconds
 */
function checkSteps(pid: number, startedAt: string, now: number): Finding[] {
  const ageMs = ageOf(pid)
  if (ageMs === null) return []
  const stepMs = now - ageMs - Date.parse(startedAt)
  if (!(Math.abs(stepMs) > minuteMs)) return []
  const seconds = Math.round(Math.abs(stepMs) / 1_000)
  const what = `the clock of this machine was set ${stepMs > 0 ? 'forward' : 'back'} by ${seconds} s while the server ran`
  const advice =
    'check that it is right now, and keep it in sync with NTP: data received in between has the wrong times'
  return [warning('clock', what, advice)]
}

/** For how long a process has been running, milliseconds (proc(5)); null if the system does not say. */
function ageOf(pid: number): number | null {
  const textOf = (file: string) => attempt(() => readFileSync(file, 'utf8'), '')
  const uptime = Number.parseFloat(textOf('/proc/uptime'))
  // After the name, which may hold anything.
  const [, fields = ''] = /.*\) (.*)$/s.exec(textOf(`/proc/${pid}/stat`)) ?? []
  const startTicks = Number(fields.split(' ')[19])
  const ageMs = (uptime - startTicks / ticksPerSecond) * 1_000
  return Number.isFinite(ageMs) ? ageMs : null
}

/** Tokens end to the second, so a clock that is off by more ends them too early, or begins them too late. */
const largestSkewMs = 5_000

/** Whether session tokens can be verified, which takes an answer from the identity provider. */
export async function checkTokens({ config }: Subject): Promise<Finding[]> {
  if (config === null) return []
  // Loaded here, so that no other command waits for it.
  const { checkIssuer } = await import('../../runtime/identity-provider.ts')
  const { ok: isWell, detail, fix = null, clockSkewMs = 0 } = await checkIssuer(config)
  if (!isWell) return [error('issuer', detail, fix)]
  const findings = [ok('issuer', detail)]
  if (Math.abs(clockSkewMs) > largestSkewMs) {
    const seconds = Math.round(Math.abs(clockSkewMs) / 1_000)
    const what = `the clock of this machine is ${seconds} s ${clockSkewMs > 0 ? 'behind' : 'ahead of'} the issuer's`
    findings.push(
      warning('clock', what, 'keep both in sync with NTP: session tokens expire to the second'),
    )
  }
  return findings
}
