import { readFileSync } from 'node:fs'
import { minuteMs } from '../../core/time/durations.ts'
import { type Finding, warning } from './finding.ts'

/** Ticks of `/proc/<pid>/stat` a second, the same on every Linux that Bun runs on. */
const ticksPerSecond = 100

/**
 * Whether the clock was stepped while a process ran: what it noted at its start, against now and its
 * age, which no setting of the clock changes. Known on Linux alone.
 *
 * @param startedAt RFC 3339
 * @param now Unix milliseconds
 */
export function checkSteps(pid: number, startedAt: string, now: number): Finding[] {
  const ageMs = ageOf(pid)
  if (ageMs === null) return []
  const stepMs = now - ageMs - Date.parse(startedAt)
  if (!(Math.abs(stepMs) > minuteMs)) return []
  const seconds = Math.round(Math.abs(stepMs) / 1_000)
  const what = `the clock of this machine was set ${stepMs > 0 ? 'forward' : 'back'} by ${seconds} s while the server ran`
  const advice =
    'see that it is right now, and keep it set by NTP: what was received in between has the times of then'
  return [warning('clock', what, advice)]
}

/** For how long a process runs, milliseconds (proc(5)); null where the system does not say. */
function ageOf(pid: number): number | null {
  try {
    const uptime = Number.parseFloat(readFileSync('/proc/uptime', 'utf8'))
    // Behind the name, which may hold anything.
    const [, fields = ''] = /.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    const startTicks = Number(fields.split(' ')[19])
    const ageMs = (uptime - startTicks / ticksPerSecond) * 1_000
    return Number.isFinite(ageMs) ? ageMs : null
  } catch {
    return null
  }
}
