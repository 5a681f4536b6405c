import { Database } from 'bun:sqlite'
import { existsSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { attempt } from '../../core/attempt.ts'
import { version } from '../../core/version.ts'
import { assertSqliteVersion, sqliteVersion } from '../../storage/sqlite/database/database.ts'
import { explained } from '../failure.ts'
import { counted, sizeOf } from '../output.ts'
import { error, type Finding, ok, type Subject, warning } from './finding.ts'
import { serverProcess } from './server-check.ts'

/** The versions that this program is made of. */
export function checkVersions(): Finding[] {
  using database = new Database(':memory:')
  try {
    const what = `cairn ${version}, Bun ${Bun.version}, SQLite ${sqliteVersion(database)}`
    assertSqliteVersion(database)
    return [ok('versions', what)]
  } catch (fault) {
    return [error('versions', explained(fault).lines.join(' '), 'use a released cairn')]
  }
}

/** What the machine gives the running server, or else this process. */
export function checkMachine({ data, bufferBytes }: Subject): Finding[] {
  const pid = serverProcess(data) ?? 'self'
  return [...checkTimeZones(), ...checkOpenFiles(pid), ...checkMemory(pid, bufferBytes ?? 0)]
}

/** Analytics count calendar days in any time zone. */
function checkTimeZones(): Finding[] {
  const noon = Temporal.Instant.from('2026-07-01T12:00:00Z')
  const hour = attempt(() => noon.toZonedDateTimeISO('Europe/Berlin').hour, null)
  if (hour === 14) return [ok('time_zones', 'the time zone data is available')]
  return [error('time_zones', 'the time zone data is missing or wrong', 'use a released cairn')]
}

const enoughFiles = 4_096

/** Every connection is an open file. Known only on Linux. */
function checkOpenFiles(pid: number | 'self'): Finding[] {
  const limits = textOf(`/proc/${pid}/limits`)
  const limit = /^Max open files\s+(\S+)/m.exec(limits ?? '')?.[1]
  if (limit === undefined) return []
  const what = `${limit} files and connections may be open at a time`
  if (limit === 'unlimited' || Number(limit) >= enoughFiles) return [ok('open_files', what)]
  const advice = 'raise it: LimitNOFILE=65536 for systemd, "ulimit -n 65536" in a shell'
  return [warning('open_files', what, advice)]
}

/** The memory that a server takes, besides its ingest buffer. */
const leastMemory = 256 * 2 ** 20

function checkMemory(pid: number | 'self', bufferBytes: number): Finding[] {
  const limit = memoryLimit(pid)
  const memory = Math.min(limit ?? Number.POSITIVE_INFINITY, totalmem())
  const what = `${sizeOf(memory)} of memory ${limit === memory ? 'is the limit here' : 'are in this machine'}`
  if (memory >= leastMemory + bufferBytes) return [ok('memory', what)]
  const advice = `give at least ${sizeOf(leastMemory + bufferBytes)}, or lower --buffer-bytes`
  return [warning('memory', what, advice)]
}

/** The lowest limit of the process's control group and those around it; null if there is none. */
function memoryLimit(pid: number | 'self'): number | null {
  const groups = textOf(`/proc/${pid}/cgroup`) ?? ''
  const unified = /^0::(\/.*)$/m.exec(groups)?.[1]
  const legacy = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(\/.*)$/m.exec(groups)?.[1]
  const limits = [
    ...limitsAlong('/sys/fs/cgroup', unified, 'memory.max'),
    ...limitsAlong('/sys/fs/cgroup/memory', legacy, 'memory.limit_in_bytes'),
  ]
  return limits.length === 0 ? null : Math.min(...limits)
}

function limitsAlong(root: string, group: string | undefined, file: string): number[] {
  const limits: number[] = []
  for (let path = group; path !== undefined; path = path === '/' ? undefined : dirname(path)) {
    const limit = Number(textOf(join(root, path, file)) ?? Number.NaN)
    // Without a limit there is "max", or a number larger than any memory.
    if (limit > 0 && limit < totalmem()) limits.push(limit)
  }
  return limits
}

const textOf = (file: string) => attempt(() => readFileSync(file, 'utf8'), null)

/** Properties of a unit by name, as `systemctl show` prints them. */
export type UnitProperties = Readonly<Record<string, string>>

const asked = ['NRestarts', 'MemoryDenyWriteExecute', 'LimitAS', 'WatchdogUSec', 'Type']

/** If systemd runs this machine: how it runs the server, and whether it keeps the clock set. */
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
  const groups = textOf(`/proc/${pid}/cgroup`) ?? ''
  return /^(?:0:|\d+:name=systemd):\/(?:.*\/)?([^/]+\.service)$/m.exec(groups)?.[1] ?? null
}

/** The settings of a unit that harm the server, or show that it is not well. */
export function judgeUnit(unit: string, properties: UnitProperties): Finding[] {
  const findings: Finding[] = []
  const { NRestarts, MemoryDenyWriteExecute, LimitAS = 'infinity' } = properties
  if (MemoryDenyWriteExecute === 'yes') {
    const what = `${unit} sets MemoryDenyWriteExecute=, under which JavaScript cannot be compiled`
    findings.push(error('unit', what, 'remove it, and restart the server'))
  }
  if (LimitAS !== 'infinity') {
    const what = `${unit} sets LimitAS=, but the server reserves far more address space than memory`
    findings.push(warning('unit', what, 'use MemoryMax= instead'))
  }
  const restarts = Number(NRestarts ?? 0)
  if (restarts > 0) {
    const what = `systemd has restarted ${unit} ${counted(restarts, 'time')} after a failure`
    findings.push(warning('unit', what, `see why: journalctl -u ${unit}`))
  }
  if (findings.length === 0) findings.push(ok('unit', `systemd runs it as ${unit}`))
  return findings
}

function checkSynchronised(): Finding[] {
  const answer = output('timedatectl', 'show', '--property=NTPSynchronized', '--value')
  if (answer !== 'no') return []
  const what = 'nothing keeps the clock of this machine in sync'
  return [warning('clock', what, 'run an NTP client, such as "timedatectl set-ntp true" starts')]
}

/** Null if there is no such command, or if it fails. */
const output = (...command: string[]) =>
  attempt(() => {
    const { success, stdout } = Bun.spawnSync(command, { stderr: 'ignore', timeout: 3_000 })
    return success ? stdout.toString().trim() : null
  }, null)
