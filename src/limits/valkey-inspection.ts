import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { type LimitsServer, script } from './valkey.ts'
import { inTime, prepare } from './valkey-link.ts'

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
const leastMajor = 7

const usualPort = 6_379

const isSecure = ({ protocol }: URL) => /^(redis|valkey)s:$/.test(protocol)

/** Host and port of a server, without user and password. */
function placeOf(address: string): string {
  const { hostname, port } = new URL(address)
  return `${hostname}:${port || usualPort}`
}

/**
 * Makes sure that a server can count limits: that it is there, lets this user in, is a primary, forgets no
 * window, and answers in time.
 *
 * @throws LimitsUnusable with what to do
 */
export async function inspectValkey({
  url: address,
  patienceMs: longestCountMs,
}: Pick<LimitsServer, 'url' | 'patienceMs'>): Promise<ValkeySeen> {
  const place = placeOf(address)
  const client = new Bun.RedisClient(address, {
    connectionTimeout: patienceMs,
    autoReconnect: false,
    enableOfflineQueue: false,
  })
  try {
    await inTime(patienceMs, client.connect()).catch(async () => {
      throw await whyNoConnection(address)
    })
    const info = fieldsOf(String(await asked(place, client.send('INFO', []))))
    requireUsable(place, info)
    await asked(place, prepare(client, script))
    const startedAt = performance.now()
    await asked(place, prepare(client, script))
    const tookMs = (performance.now() - startedAt) / 2
    if (tookMs > longestCountMs) {
      throw new LimitsUnusable(
        `${place} takes ${Math.round(tookMs)} ms for a count`,
        `put it nearer to this machine, or raise CAIRN_LIMITS_PATIENCE_MS, which is ${longestCountMs}`,
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
  if (!(Number.parseInt(version, 10) >= leastMajor)) {
    refuse(`is ${nameOf(info)}`, `upgrade it to ${leastMajor} or newer`)
  }
  const mode = info.get('redis_mode') ?? info.get('server_mode')
  if (mode === 'cluster') {
    refuse('is part of a cluster, which Cairn does not follow', 'name a server that stands alone')
  }
  if (mode === 'sentinel')
    refuse('is a Sentinel, which counts nothing', 'name the primary it watches')
  if (info.get('role') !== 'master') {
    refuse('is a replica, which takes no counts', 'name its primary')
  }
  const policy = info.get('maxmemory_policy') ?? 'noeviction'
  if (policy !== 'noeviction' && info.get('maxmemory') !== '0') {
    refuse(
      `forgets windows when its memory is full (maxmemory-policy ${policy})`,
      'set maxmemory-policy noeviction, or give the limits a server of their own',
    )
  }
}

/** What to do about an answer that is an error, by its code. */
const adviceOf: Record<string, string> = {
  NOPERM:
    'allow the user +info +script|load +evalsha +eval +get +set +incr +pttl +pexpire on ~cairn:*, +select for a database number, and +hello +auth +ping',
  OOM: 'raise its maxmemory',
  READONLY: 'name its primary',
  MISCONF: 'let it write its data to disk, or set stop-writes-on-bgsave-error no',
  NOREPLICAS: 'bring its replicas back, or lower min-replicas-to-write',
  ERR: 'look at its log, and at the number of the database',
}

/** @throws LimitsUnusable if the answer is an error, or does not come */
async function asked<T>(place: string, answer: Promise<T>): Promise<T> {
  try {
    return await inTime(patienceMs, answer)
  } catch (error) {
    // The script follows the reason.
    const [reason = ''] = (error as Error).message.split(/[\r\n]| script: /)
    const advice = adviceOf[reason.split(' ')[0] ?? ''] ?? 'look whether it is overloaded'
    const isAnswer = /^[A-Z]+ /.test(reason)
    const what = isAnswer ? `does not count (${reason.slice(0, 120)})` : 'does not answer'
    throw new LimitsUnusable(`${place} ${what}`, advice, !isAnswer)
  }
}

/** The client does not say why there is no connection, so one is tried by hand. */
async function whyNoConnection(address: string): Promise<LimitsUnusable> {
  const url = new URL(address)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port || usualPort)
  const { promise, resolve } = Promise.withResolvers<Fault>()
  const hello = () => socket.write(greetingOf(url))
  const socket: Socket = isSecure(url)
    ? connectSecurely({ host, port, ...(isIP(host) === 0 && { servername: host }) }, hello)
    : connectPlain({ host, port }, hello)
  socket.setTimeout(patienceMs, () => resolve(silent(url)))
  socket.on('error', error =>
    resolve(faultOf((error as { code?: string }).code ?? error.message, url)),
  )
  socket.on('close', () => resolve(['closes the connection', whichTls(url)]))
  socket.once('data', data => resolve(refusalIn(data.toString())))
  try {
    const [what, advice, mayPass] = await promise
    return new LimitsUnusable(`${placeOf(address)} ${what}`, advice, mayPass)
  } finally {
    socket.destroy()
  }
}

/** What is wrong, what to do, and whether it may pass by itself. */
type Fault = readonly [what: string, advice: string, mayPass?: boolean]

/** A silent server that waits for the end of a line takes no TLS; any other is overloaded, or not reached. */
const silent = (url: URL): Fault => [
  'does not answer',
  `look whether it runs and a firewall is between; ${whichTls(url)}`,
  !isSecure(url),
]

const whichTls = (url: URL) =>
  isSecure(url)
    ? 'if it takes no TLS there, name it by redis://'
    : 'if it takes TLS there, name it by rediss://'

/** As an array of the protocol, which all of them take. */
function greetingOf({ username, password }: URL): string {
  const words = [username || 'default', password].map(word => decodeURIComponent(word))
  const parts = password === '' ? ['PING'] : ['AUTH', ...words]
  const bulk = parts.map(part => `$${Buffer.byteLength(part)}\r\n${part}\r\n`)
  return `*${parts.length}\r\n${bulk.join('')}`
}

function faultOf(code: string, url: URL): Fault {
  if (code === 'ENOTFOUND') return ['is unknown', 'correct its name, or DNS']
  if (code === 'ECONNREFUSED') {
    return ['accepts no connections', 'start it, or correct the address', true]
  }
  if (/CERT|SIGNED|ALTNAME|HOSTNAME/.test(code)) {
    return [
      `has a certificate that is not trusted (${code})`,
      "set NODE_EXTRA_CA_CERTS to its authority's file, or name it as the certificate does",
    ]
  }
  if (/SSL|TLS|ECONNRESET/.test(code)) {
    return [`breaks the connection off (${code})`, whichTls(url)]
  }
  return [`cannot be reached (${code})`, 'look at the address and the network', true]
}

function refusalIn(answer: string): Fault {
  const [line = ''] = answer.split('\r\n')
  if (/^-(WRONGPASS|ERR AUTH|ERR invalid password)/.test(line)) {
    return ['refuses the user or the password', 'correct them, with %40 for @ and the like']
  }
  if (line.startsWith('-NOAUTH')) return ['wants a password', 'name it as redis://:password@host']
  if (line.startsWith('-DENIED')) {
    return ['lets in nobody from another machine (protected mode)', 'give it a password']
  }
  if (line.startsWith('-LOADING')) return ['is still reading its data', 'wait a moment', true]
  if (line.startsWith('-'))
    return [`refuses the connection (${line.slice(1, 80)})`, 'look at its log']
  if (line.startsWith('+')) return ['lets the connection go', 'try again', true]
  return ['is no Valkey or Redis', 'correct the address']
}
