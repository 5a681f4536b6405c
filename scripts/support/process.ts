import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { attempt } from '../../src/core/attempt.ts'

/** The unit of a process's times in `/proc`, milliseconds: the same on every Linux machine used here. */
const tickMs = 10

/** A field of proc_pid_stat(5), by its number there. */
const statOf = (pid: number) => {
  // The second field is the name, which may hold anything.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
  return (field: number) => Number(fields[field - 3])
}

/** CPU time that a process has taken so far, with its threads and in the kernel, milliseconds. */
export function cpuMsOf(pid: number): number {
  const stat = statOf(pid)
  return (stat(14) + stat(15)) * tickMs
}

/** CPU time of a process with all processes that its first thread has started, including ended ones. */
export function familyCpuMsOf(pid: number): number {
  const stat = statOf(pid)
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? []
  // A child that has ended meanwhile is counted by its parent.
  const theirs = children.map(child => attempt(() => familyCpuMsOf(Number(child)), 0))
  return theirs.reduce((sum, ms) => sum + ms, (stat(14) + stat(15) + stat(16) + stat(17)) * tickMs)
}

const statusMiBOf = (pid: number, name: string) => {
  const kib = new RegExp(`${name}:\\s+(\\d+)`).exec(
    readFileSync(`/proc/${pid}/status`, 'utf8'),
  )?.[1]
  return Number(kib ?? 0) / 1_024
}

/** A process's resident memory, MiB. */
export const rssMiBOf = (pid: number) => statusMiBOf(pid, 'VmRSS')

/** The most resident memory that a process ever had, MiB. */
export const peakRssMiBOf = (pid: number) => statusMiBOf(pid, 'VmHWM')

/** How many files and connections a process has open, besides those with which its threads wait for events. */
export const openFilesOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/fd`).filter(
    handle =>
      !attempt(() => readlinkSync(`/proc/${pid}/fd/${handle}`), '').startsWith('anon_inode'),
  ).length

/** The largest value that something has while it is watched. */
export class Peak implements Disposable {
  value: number
  private readonly timer = setInterval(() => {
    this.value = Math.max(this.value, this.read())
  }, 50)

  constructor(private readonly read: () => number) {
    this.value = read()
  }

  [Symbol.dispose](): void {
    clearInterval(this.timer)
  }
}
