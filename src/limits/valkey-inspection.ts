import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { RedisClient } from 'bun'
import { countsIn } from './valkey.ts'

/** The server of the limits cannot be used, in words for the person who named it. */
export class LimitsUnusable extends Error {
  override readonly name = 'LimitsUnusable'
}

/** What a usable server says of itself. */
export interface ValkeySeen {
  /** Host and port. */
  place: string
  /** `Valkey 8.0.1` or `Redis 7.0.15`. */
  what: string
  /** Of one count. */
  tookMs: number
}

/** How long each step may take, milliseconds. */
const patienceMs = 2_000

/** The first release whose scripts and expiry are what is asked of them. */
const leastMajor = 7

const usualPort = 6_379

const isSecure = ({ protocol }: URL) => /^(redis|valkey)s:$/.test(protocol)

/** Host and port of a server, without user and password. */
export function placeOf(address: string): string {
  const { hostname, port } = new URL(address)
  return `${hostname}:${port || usualPort}`
}

/**
 * Makes sure that a server can count limits: that it is there, lets this user in, is a primary, and forgets
 * no window.
 *
 * @throws LimitsUnusable with what to do
 */
export async function inspectValkey(address: string): Promise<ValkeySeen> {
  const place = placeOf(address)
  const client = new RedisClient(address, {
    connectionTimeout: patienceMs,
    autoReconnect: false,
    enableOfflineQueue: false,
  })
  try {
    await inTime(client.connect()).catch(async () => {
      throw new LimitsUnusable(`${place} ${await whyNoConnection(address)}`)
    })
    const info = fieldsOf(String(await asked(place, 'INFO', client.send('INFO', []))))
    const problem = problemOf(info)
    if (problem !== null) throw new LimitsUnusable(`${place} ${problem}`)
    const startedAt = performance.now()
    await asked(place, 'count', countsIn(client, 'cairn:{probe}', 1))
    return { place, what: nameOf(info), tookMs: performance.now() - startedAt }
  } finally {
    client.close()
  }
}

type Fields = ReadonlyMap<string, string>

/** What INFO tells, by name. */
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

/** Why it cannot count, and what to do; null where it can. */
function problemOf(info: Fields): string | null {
  const version = info.get('valkey_version') ?? info.get('redis_version') ?? ''
  if (!(Number.parseInt(version, 10) >= leastMajor)) {
    return `is ${nameOf(info)}: upgrade it to ${leastMajor} or newer`
  }
  if (info.get('redis_mode') === 'cluster' || info.get('server_mode') === 'cluster') {
    return 'is part of a cluster, which Cairn does not follow: name a server that stands by itself'
  }
  if (info.get('role') !== 'master') return 'is a replica, which takes no counts: name its primary'
  const policy = info.get('maxmemory_policy') ?? 'noeviction'
  if (policy !== 'noeviction' && info.get('maxmemory') !== '0') {
    return `forgets windows when its memory is full (maxmemory-policy ${policy}): set maxmemory-policy noeviction, or give the limits a server of their own`
  }
  return null
}

/** An answer that says no is told without what was asked. @throws LimitsUnusable */
async function asked<T>(place: string, what: string, answer: Promise<T>): Promise<T> {
  try {
    return await inTime(answer)
  } catch (error) {
    const reason = (error as Error).message.split(/[\r\n]/)[0]!.slice(0, 120)
    const advice = reason.startsWith('NOPERM')
      ? 'allow the user +info +script +evalsha +eval +get +set +incr +pttl +pexpire on cairn:*'
      : 'look at its log'
    throw new LimitsUnusable(`${place} refuses ${what} (${reason}): ${advice}`)
  }
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('no answer')), patienceMs)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

/** The client does not say why there is no connection, so it is tried by hand. */
async function whyNoConnection(address: string): Promise<string> {
  const url = new URL(address)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port || usualPort)
  const { promise, resolve } = Promise.withResolvers<string>()
  const hello = () => socket.write(greetingOf(url))
  const socket: Socket = isSecure(url)
    ? connectSecurely({ host, port, ...(isIP(host) === 0 && { servername: host }) }, hello)
    : connectPlain({ host, port }, hello)
  socket.setTimeout(patienceMs, () =>
    resolve(`does not answer: look whether it runs and a firewall is between; ${whichTls(url)}`),
  )
  socket.on('error', error =>
    resolve(faultOf((error as { code?: string }).code ?? error.message, url)),
  )
  socket.on('close', () => resolve(`closes the connection: ${whichTls(url)}`))
  socket.once('data', data => resolve(refusalIn(data.toString())))
  try {
    return await promise
  } finally {
    socket.destroy()
  }
}

const whichTls = (url: URL) =>
  isSecure(url)
    ? 'if it takes no TLS there, name it by redis://'
    : 'if it takes TLS there, name it by rediss://'

/** In the protocol's form for people, which all of them take. */
function greetingOf({ username, password }: URL): string {
  const words = [username || 'default', password].map(word => decodeURIComponent(word))
  const parts = password === '' ? ['PING'] : ['AUTH', ...words]
  const bulk = parts.map(part => `$${Buffer.byteLength(part)}\r\n${part}\r\n`)
  return `*${parts.length}\r\n${bulk.join('')}`
}

function faultOf(code: string, url: URL): string {
  if (/ENOTFOUND|EAI_AGAIN/.test(code)) return 'is unknown: correct its name, or DNS'
  if (code === 'ECONNREFUSED') return 'takes no connection: start it, or correct the address'
  if (/CERT|SIGNED|ALTNAME|HOSTNAME/.test(code)) {
    return `has a certificate that is not trusted (${code}): set NODE_EXTRA_CA_CERTS to its authority's file, or name it as the certificate does`
  }
  if (/SSL|TLS|ECONNRESET/.test(code)) {
    return `breaks the connection off (${code}): ${whichTls(url)}`
  }
  return `cannot be reached (${code}): look at the address and the network`
}

function refusalIn(answer: string): string {
  const [line = ''] = answer.split('\r\n')
  if (/^-(WRONGPASS|ERR AUTH|ERR invalid password)/.test(line)) {
    return 'refuses the user or the password: correct them in the address, with %40 for @ and the like'
  }
  if (line.startsWith('-NOAUTH')) {
    return 'wants a password: name it as redis://:password@host'
  }
  if (line.startsWith('-DENIED')) {
    return 'lets in nobody from another machine (protected mode): give it a password, or bind it'
  }
  if (line.startsWith('-LOADING')) return 'is still reading its data: try again in a moment'
  if (/^[+-]/.test(line)) return `refuses the connection (${line.slice(1, 80)}): look at its log`
  return 'is no Valkey or Redis: correct the address'
}
