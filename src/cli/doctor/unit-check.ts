import { existsSync, readFileSync } from 'node:fs'
import { counted } from '../output.ts'
import { error, type Finding, ok, type Subject, warning } from './finding.ts'
import { serverProcess } from './server-check.ts'

/** Properties of a unit by name, as `systemctl show` prints them. */
export type UnitProperties = Readonly<Record<string, string>>

const asked = ['NRestarts', 'MemoryDenyWriteExecute', 'LimitAS', 'WatchdogUSec', 'Type']

/** Where systemd runs this machine: how it runs the server, and whether it keeps the clock set. */
export function checkUnit({ data }: Subject): Finding[] {
  if (!existsSync('/run/systemd/system')) return []
  return [...checkSynchronised(), ...checkServersUnit(data)]
}

function checkServersUnit(data: string | null): Finding[] {
  const pid = serverProcess(data)
  const unit = pid === null ? null : unitOf(pid)
  if (unit === null) return []
  const shown = output('systemctl', 'show', unit, `--property=${asked.join(',')}`)
  if (shown === null) return []
  const lines = shown.split('\n').map(line => line.split(/=(.*)/s))
  return judgeUnit(unit, Object.fromEntries(lines))
}

/** The service that a process belongs to, by its control group. */
function unitOf(pid: number): string | null {
  try {
    const groups = readFileSync(`/proc/${pid}/cgroup`, 'utf8')
    return /^(?:0:|\d+:name=systemd):\/(?:.*\/)?([^/]+\.service)$/m.exec(groups)?.[1] ?? null
  } catch {
    return null
  }
}

/** What of a unit's settings harms the server, or tells that it is not well. */
export function judgeUnit(unit: string, properties: UnitProperties): Finding[] {
  const findings: Finding[] = []
  const { NRestarts, MemoryDenyWriteExecute, LimitAS = 'infinity' } = properties
  if (MemoryDenyWriteExecute === 'yes') {
    const what = `${unit} sets MemoryDenyWriteExecute=, under which JavaScript cannot be compiled`
    findings.push(error('unit', what, 'remove it, and restart the server'))
  }
  if (LimitAS !== 'infinity') {
    const what = `${unit} sets LimitAS=, but the server reserves far more addresses than memory`
    findings.push(warning('unit', what, 'limit it by MemoryMax= in its place'))
  }
  const restarts = Number(NRestarts ?? 0)
  if (restarts > 0) {
    const what = `systemd has started ${unit} again ${counted(restarts, 'time')} after a failure`
    findings.push(warning('unit', what, `see why: journalctl -u ${unit}`))
  }
  if (findings.length === 0) findings.push(ok('unit', `systemd runs it as ${unit}`))
  return findings
}

function checkSynchronised(): Finding[] {
  const answer = output('timedatectl', 'show', '--property=NTPSynchronized', '--value')
  if (answer !== 'no') return []
  const what = 'nothing keeps the clock of this machine set'
  return [warning('clock', what, 'run an NTP client, such as "timedatectl set-ntp true" starts')]
}

/** Null where there is no such command, or it fails. */
function output(...command: string[]): string | null {
  try {
    const { success, stdout } = Bun.spawnSync(command, { stderr: 'ignore', timeout: 3_000 })
    return success ? stdout.toString().trim() : null
  } catch {
    return null
  }
}
