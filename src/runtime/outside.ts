import type { Outside, Sent } from '../app.ts'
import type { Config } from '../config/settings.ts'
import { addressIn, isPublicAddress, problemOfTarget } from '../core/organisation/addresses.ts'
import { boundedFetch, TooMuch } from './bounded-fetch.ts'
import { mailerOf } from './mailer.ts'
import { sessionKey } from './session-key.ts'

/** How long a receiver has in all, and how much of its answer is read. */
const patienceMs = 10_000
const maxBytes = 64 * 1024
/** How many of a name's addresses are tried. */
const maxAddresses = 3

/** Every address of a name. */
export type Resolve = (name: string) => Promise<readonly string[]>

const resolveByTheSystem: Resolve = async name => {
  // Loaded by the first that needs it, because no start should wait for it.
  const { lookup } = await import('node:dns/promises')
  const found = await lookup(name, { all: true, order: 'ipv4first' })
  return found.map(({ address }) => address)
}

/** The settings of the way out, besides the data directory. */
export const settingsOfOutside = ['webhooksPrivate', 'publicUrl', 'smtpUrl', 'mailFrom'] as const

type Settings = Pick<Config, (typeof settingsOfOutside)[number] | 'data'>

/** The way out of this machine, for messages of alerts. */
export function outsideOf(
  config: Settings,
  { signal, resolve = resolveByTheSystem }: { signal?: AbortSignal; resolve?: Resolve } = {},
): Outside {
  const allowsPrivate = config.webhooksPrivate === 'on'
  let serverKey: Uint8Array | null = null
  return {
    publicUrl: config.publicUrl,
    mail: config.publicUrl === null ? null : mailerOf(config),
    serverKey() {
      serverKey ??= sessionKey(config.data)
      return serverKey
    },
    problemWith: url => problemOfTarget(url, allowsPrivate),
    async post(url, headers, body) {
      const problem = problemOfTarget(url, allowsPrivate)
      if (problem !== null) return { fault: problem }
      const late = AbortSignal.timeout(patienceMs)
      const ended = signal ? AbortSignal.any([signal, late]) : late
      const work = post(new URL(url), { headers, body, ended }, allowsPrivate, resolve)
      // A resolver takes no signal.
      const gone = Promise.withResolvers<Sent>()
      const end = () => {
        if (late.aborted) gone.resolve({ fault: tooLate })
        // This does not count as an attempt: the message is due at the next start.
        else gone.reject(new Error('The server was stopped'))
      }
      ended.addEventListener('abort', end, { once: true })
      try {
        return await Promise.race([work, gone.promise])
      } finally {
        ended.removeEventListener('abort', end)
      }
    },
  }
}

const tooLate = `There was no answer within ${patienceMs / 1_000} seconds`

interface Message {
  headers: Readonly<Record<string, string>>
  body: string
  ended: AbortSignal
}

/**
 * Posts to the very addresses that were checked, because a name that is resolved twice may mean another
 * machine the second time. No redirect is followed, and little is read.
 */
async function post(
  url: URL,
  message: Message,
  allowsPrivate: boolean,
  resolve: Resolve,
): Promise<Sent> {
  const literal = addressIn(url)
  let addresses: readonly string[]
  try {
    addresses = literal === null ? await resolve(url.hostname) : [literal]
  } catch {
    return { fault: "The receiver's name cannot be resolved" }
  }
  if (addresses.length === 0) return { fault: "The receiver's name has no address" }
  if (!allowsPrivate && !addresses.every(isPublicAddress)) {
    return { fault: "The receiver's name resolves to an address in a private network" }
  }
  let sent: Sent = { fault: 'The connection failed' }
  for (const address of addresses.slice(0, maxAddresses)) {
    const outcome = await postTo(url, address, message)
    if ('status' in outcome) return outcome
    sent = { fault: outcome.fault }
    if (!outcome.isUnreachable) break
  }
  return sent
}

const unreachable = [
  'ConnectionRefused',
  'FailedToOpenSocket',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
]

async function postTo(
  url: URL,
  address: string,
  { headers, body, ended }: Message,
): Promise<{ status: number } | { fault: string; isUnreachable: boolean }> {
  const target = new URL(url)
  target.hostname = address.includes(':') ? `[${address}]` : address
  const init = {
    method: 'POST',
    headers: { ...headers, host: url.host },
    body,
    signal: ended,
    // The certificate has to be for the name, not for the address.
    tls: { serverName: url.hostname.replace(/^\[|\]$/g, '') },
  }
  try {
    const { status } = await boundedFetch(target.href, init as RequestInit & typeof init, maxBytes)
    return { status }
  } catch (error) {
    const { code = '', name, message } = error as Error & { code?: string }
    if (error instanceof TooMuch) return { fault: 'The answer is too large', isUnreachable: false }
    if (ended.aborted) return { fault: tooLate, isUnreachable: false }
    const isUnreachable = unreachable.includes(code)
    const problem = isUnreachable
      ? 'The connection was refused'
      : /CERT|ALTNAME|SSL|TLS/i.test(code)
        ? `The certificate is invalid (${code})`
        : `The connection failed (${code || name || message})`
    return { fault: problem, isUnreachable }
  }
}
