import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { inTime } from '../scheduling/in-time.ts'
import { type LimitsServer, script } from './valkey.ts'
import { prepare } from './valkey-link.ts'

/** The limits server cannot be used, in words for the person who named it. */
export class LimitsUnusable extends Error {
  override readonly name = 'LimitsUnusable'

  /** @param mayPass whether it may be well again in a moment without anybody's help */
  constructor(
    readonly what: string,
    readonly advice: string,
    readonly mayPass = false,
  ) {
    super(`${what}: ${advice}`)
  }
}

/** What a usable server says about itself. */
export interface ValkeySeen {
  /** Host and port. */
  place: string
  /** `Valkey 8.0.1` or `Redis 7.0.15`. */
  what: string
  /** For one count. */
  tookMs: number
}

/** How long each step may take, milliseconds. */
const patienceMs = 2_000

/** The first release whose scripts and expiry do what is needed here. */
const minMajor = 7

const defaultPort = 6_379

const isSecure = ({ protocol }: URL) => /^(redis|valkey)s:$/.test(protocol)

/** Host and port of a server, without user and password. */
function placeOf(address: string): string {
  const { hostname, port } = new URL(address)
  return `${hostname}:${port || defaultPort}`
}

/**
 * Makes sure that a server can count limits: that it is there, lets this user in, is a primary, forgets no
 * window, and answers in time.
 *
 * @throws LimitsUnusable with what to do
 */
export async function inspectValkey({
  url: address,
  patienceMs: maxCountMs,
}: Pick<LimitsServer, 'url' | 'patienceMs'>): Promise<ValkeySeen> {
  const place = placeOf(address)
  const client = new Bun.RedisClient(address, {
    connectionTimeout: patienceMs,
    autoReconnect: false,
    enableOfflineQueue: false,
  })
  try {
    await inTime(client.connect(), patienceMs).catch(async () => {
      throw await whyNoConnection(address)
    })
    const info = fieldsOf(String(await requested(place, client.send('INFO', []))))
    requireUsable(place, info)
    await requested(place, prepare(client, script))
    const startedAt = performance.now()
    await requested(place, prepare(client, script))
    const tookMs = (performance.now() - startedAt) / 2
    if (tookMs > maxCountMs) {
      throw new LimitsUnusable(
        `${place} takes ${Math.round(tookMs)} ms to count a request`,
        `move it closer to this machine, or raise CAIRN_LIMITS_PATIENCE_MS, which is ${maxCountMs}`,
        true,
      )
    }
    return { place, what: nameOf(info), tookMs }
  } finally {
    client.close()
  }
}

type Fields = ReadonlyMap<string, string>

/** The fields of INFO, by name. */
const fieldsOf = (info: string): Fields =>
  new Map(
    info.split(/\r?\n/).flatMap(line => {
      const at = line.indexOf(':')
      return line.startsWith('#') || at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)]]
    }),
  )

const nameOf = (info: Fields): string => {
  const valkey = info.get('valkey_version')
  return valkey ? `Valkey ${valkey}` : `Redis ${info.get('redis_version')}`
}

/** @throws LimitsUnusable if it would not count correctly */
function requireUsable(place: string, info: Fields): void {
  const refuse = (what: string, advice: string) => {
    throw new LimitsUnusable(`${place} ${what}`, advice)
  }
  const version = info.get('valkey_version') ?? info.get('redis_version') ?? ''
  if (!(Number.parseInt(version, 10) >= minMajor)) {
    refuse(`is ${nameOf(info)}`, `upgrade it to ${minMajor} or newer`)
  }
  const mode = info.get('redis_mode') ?? info.get('server_mode')
  if (mode !== 'standalone') refuse(`is part of a ${mode}`, 'use a standalone server')
  if (info.get('role') !== 'master') {
    refuse('is a replica, which is read-only', 'name its primary')
  }
  const policy = info.get('maxmemory_policy') ?? 'noeviction'
  if (policy !== 'noeviction' && info.get('maxmemory') !== '0') {
    refuse(
      `evicts counters when its memory is full (maxmemory-policy ${policy})`,
      'set maxmemory-policy noeviction, or use a separate server for the limits',
    )
  }
}

/** What a user for Cairn alone has to be allowed. */
const rights =
  '+info +script|load +evalsha +eval +get +set +incr +pttl +pexpire on ~cairn:*, +select for a database number, and +hello +auth +ping'

/** @throws LimitsUnusable if the answer is an error, or does not come */
async function requested<T>(place: string, answer: Promise<T>): Promise<T> {
  try {
    return await inTime(answer, patienceMs)
  } catch (error) {
    // The script follows the reason.
    const [reason = ''] = (error as Error).message.split(/[\r\n]| script: /)
    const isAnswer = /^[A-Z]+ /.test(reason)
    const what = isAnswer ? `cannot count requests (${reason.slice(0, 120)})` : 'does not answer'
    const advice = reason.startsWith('NOPERM ')
      ? `allow the user ${rights}`
      : 'check its log, and whether it is overloaded'
    throw new LimitsUnusable(`${place} ${what}`, advice, !isAnswer)
  }
}

/** The client does not say why there is no connection, so one is tried by hand. */
async function whyNoConnection(address: string): Promise<LimitsUnusable> {
  const url = new URL(address)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port || defaultPort)
  const { promise, resolve } = Promise.withResolvers<string>()
  const hello = () => socket.write(greetingOf(url))
  const socket: Socket = isSecure(url)
    ? connectSecurely({ host, port, ...(isIP(host) === 0 && { servername: host }) }, hello)
    : connectPlain({ host, port }, hello)
  socket.setTimeout(patienceMs, () => resolve('no answer'))
  socket.on('error', error => resolve((error as { code?: string }).code ?? error.message))
  socket.on('close', () => resolve('it closes the connection'))
  socket.once('data', data => resolve(data.toString().split('\r\n')[0]!.slice(0, 80)))
  const answer = await promise
  socket.destroy()
  const place = placeOf(address)
  if (/^[-+]/.test(answer)) {
    const what = `${place} rejects the connection (${answer.slice(1)})`
    const advice = 'correct the user or the password (write %40 for @), or see its log'
    return new LimitsUnusable(what, advice, /^(\+|-LOADING)/.test(answer))
  }
  const tls = isSecure(url)
    ? 'if it does not use TLS, use redis://; set NODE_EXTRA_CA_CERTS to trust your own certificate authority'
    : 'if it uses TLS, use rediss://'
  const mayPass = /^(no answer|E[A-Z]+)$/.test(answer) && answer !== 'ENOTFOUND' && !isSecure(url)
  const advice = `start it, or correct the address; ${tls}`
  return new LimitsUnusable(`${place} cannot be reached (${answer})`, advice, mayPass)
}

/** As an array of the protocol, which all of them take. */
function greetingOf({ username, password }: URL): string {
  const words = [username || 'default', password].map(word => decodeURIComponent(word))
  const parts = password === '' ? ['PING'] : ['AUTH', ...words]
  const bulk = parts.map(part => `$${Buffer.byteLength(part)}\r\n${part}\r\n`)
  return `*${parts.length}\r\n${bulk.join('')}`
}
