import { dlopen, type Pointer, ptr } from 'bun:ffi'
import { shortReasonOf } from '../core/reason.ts'
import type { Log } from './log.ts'

/**
 * The variables with which systemd tells this process how to report to it (sd_notify(3),
 * sd_watchdog_enabled(3)).
 */
type NotifyVariable =
  /** Path of a datagram socket; `@` begins an abstract one. */
  | 'NOTIFY_SOCKET'
  /** Microseconds within which it wants to hear from this process. */
  | 'WATCHDOG_USEC'
  /** The process that it means by that. */
  | 'WATCHDOG_PID'

type NotifyEnvironment = Readonly<Partial<Record<NotifyVariable | (string & {}), string>>>

/** Linux constants for the calls below; the same on x64 and arm64. */
const afUnix = 1
const sockDgram = 2
const sockCloexec = 0o2000000
const msgDontWait = 0x40
const msgNoSignal = 0x4000
const clockMonotonic = 1

/** Room for a path in a socket's address, including its terminator (unix(7)). */
const maxPathLength = 108

/**
 * Bun has no datagram sockets of the unix family, so these three functions of the C library are called, as
 * `sd_notify` does. A child process (`systemd-notify`) would be another sender, which `NotifyAccess=main`
 * refuses.
 */
const openLibrary = () =>
  dlopen('libc.so.6', {
    socket: { args: ['int', 'int', 'int'], returns: 'int' },
    sendto: { args: ['int', 'ptr', 'u64', 'int', 'ptr', 'u32'], returns: 'i64' },
    clock_gettime: { args: ['int', 'ptr'], returns: 'int' },
  }).symbols

/** A `sockaddr_un`: the family in two bytes, then the path; an abstract one begins with a zero. */
function socketAddress(path: string): Buffer {
  const name = path.startsWith('@') ? `\0${path.slice(1)}` : `${path}\0`
  const length = Buffer.byteLength(name)
  if (!/^[/@]./.test(path) || length > maxPathLength)
    throw new Error('NOTIFY_SOCKET is not a socket')
  const address = Buffer.alloc(2 + length)
  address.writeUInt16LE(afUnix, 0)
  address.write(name, 2)
  return address
}

/** The supervisor of this process, if it wants the status: systemd, or none. */
export class ServiceManager {
  private readonly library = openLibrary()
  private readonly socket: number

  private constructor(
    private readonly address: Buffer,
    /** How often it wants to hear that all is well, milliseconds; null for never. */
    readonly watchdogMs: number | null,
  ) {
    this.socket = this.library.socket(afUnix, sockDgram | sockCloexec, 0)
    if (this.socket < 0) throw new Error('a socket cannot be created')
  }

  /** Null if nobody wants the status. A supervisor that cannot be reached is no reason not to serve. */
  static from(env: NotifyEnvironment, log: Log): ServiceManager | null {
    if (!env.NOTIFY_SOCKET) return null
    try {
      return new ServiceManager(socketAddress(env.NOTIFY_SOCKET), watchdogMsOf(env))
    } catch (error) {
      log.warn({ reason: shortReasonOf(error) }, 'the status cannot be sent to the service manager')
      return null
    }
  }

  /** From now on requests are answered; also sent after a reload. */
  ready(): void {
    this.tell('READY=1')
  }

  /** One line that it shows beside the service. */
  status(text: string): void {
    this.tell(`STATUS=${text}`)
  }

  /** Starting takes longer: says what is being done, and how long it needs at least from now, milliseconds. */
  starting(text: string, atLeastMs: number): void {
    this.tell(`STATUS=${text}`, `EXTEND_TIMEOUT_USEC=${atLeastMs * 1_000}`)
  }

  reloading(): void {
    this.tell('RELOADING=1', `MONOTONIC_USEC=${this.monotonicMicros()}`)
  }

  stopping(): void {
    this.tell('STOPPING=1', 'STATUS=Stopping')
  }

  alive(): void {
    this.tell('WATCHDOG=1')
  }

  /** Never waits: a message that cannot be taken now is dropped, and the next one says more. */
  private tell(...lines: string[]): void {
    const text = Buffer.from(lines.map(line => line.replaceAll('\n', '; ')).join('\n'))
    const flags = msgNoSignal | msgDontWait
    const { sendto } = this.library
    sendto(this.socket, at(text), text.length, flags, at(this.address), this.address.length)
  }

  /** By the clock that systemd compares with, which none of Bun's clocks is. */
  private monotonicMicros(): bigint {
    const time = new BigInt64Array(2)
    this.library.clock_gettime(clockMonotonic, at(time))
    const [seconds = 0n, nanoseconds = 0n] = time
    return seconds * 1_000_000n + nanoseconds / 1_000n
  }
}

const at = (bytes: NodeJS.TypedArray): Pointer => ptr(bytes)

function watchdogMsOf({ WATCHDOG_USEC, WATCHDOG_PID }: NotifyEnvironment): number | null {
  if (WATCHDOG_PID && Number(WATCHDOG_PID) !== process.pid) return null
  const micros = Number(WATCHDOG_USEC)
  return micros > 0 ? micros / 1_000 : null
}
