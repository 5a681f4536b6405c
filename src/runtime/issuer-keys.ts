import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PublicKey, publicKeysIn } from '../core/organisation/key-set.ts'
import { shortReasonOf } from '../core/reason.ts'
import { shown } from '../core/text/wording.ts'
import type { Clock } from '../core/time/clock.ts'
import { hourMs, minuteMs } from '../core/time/durations.ts'
import type { KeySource } from '../http/session-tokens.ts'
import { replaceSynced } from '../storage/sqlite/database/synced-files.ts'
import { askProvider, type IdentityProvider, ProviderFailure } from './identity-provider.ts'
import type { Log } from './log.ts'

/** How often the keys are fetched from the provider. */
const schedule = {
  /** If it does not say how long its keys can be kept, and the bounds if it does. */
  everyMs: 10 * minuteMs,
  leastMs: minuteMs,
  mostMs: hourMs,
  /** The pause after a failure, doubled with each further one. */
  firstPauseMs: 5_000,
  longestPauseMs: 5 * minuteMs,
}

/**
 * Bounds the fetches for unknown keys that requests name, because naming one takes no credential: a few at once, then
 * one per interval. A stranger's few leave room for a new key's first use, and a flood makes Cairn ask the provider
 * twice a minute.
 */
const unknown = { atOnce: 5, everyMs: minuteMs / 2 }

/** How long a request waits for a key that is not known yet, milliseconds. */
const defaultPatienceMs = 3_000

/**
 * The identity provider's keys, fetched in the background and when a request names a new one. The last good ones
 * keep working however long the provider is down, and survive a restart in a file.
 */
export class IssuerKeys implements KeySource {
  keys: readonly PublicKey[] = []
  private failures = 0
  /** The last state of the provider in the log. */
  private news: 'nothing' | 'answers' | `fails: ${string}` = 'nothing'
  private dueAt: number
  /** A provider that fails is not called again before this, whoever wants it. */
  private pausedUntil = Number.NEGATIVE_INFINITY
  /** When as many fetches for unknown keys are allowed at once as ever. */
  private allAllowedAt = Number.NEGATIVE_INFINITY
  /** A request named an unknown key when nothing could be fetched. The fetch is made as soon as it can be. */
  private isWanted = false
  private fetching: Promise<void> | null = null

  constructor(
    private readonly provider: IdentityProvider,
    private readonly dataDir: string,
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly patienceMs = defaultPatienceMs,
  ) {
    this.dueAt = clock.monotonic()
    try {
      this.keys = readKeptKeys(dataDir, provider)
    } catch (error) {
      log.warn({ reason: shortReasonOf(error) }, 'issuer-keys.json cannot be read and is ignored')
    }
  }

  private get renewableAt(): number {
    const { atOnce, everyMs } = unknown
    return Math.max(this.allAllowedAt - (atOnce - 1) * everyMs, this.pausedUntil)
  }

  /** Fetches the keys if it is time to. */
  async refresh(): Promise<void> {
    const now = this.clock.monotonic()
    if (this.isWanted && now >= this.renewableAt) await this.fetchWanted()
    else if (now >= this.dueAt) await this.fetchOnce()
  }

  /**
   * For a request that names an unknown key: fetches at once or, if that was done too often, as soon as it is
   * allowed, and nobody waits for that. A provider that fails is not called more often because of it.
   */
  async renew(): Promise<void> {
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, this.patienceMs)
    await Promise.race([this.fetchWanted(), late.promise])
    clearTimeout(timer)
  }

  private async fetchWanted(): Promise<void> {
    if (this.fetching) return this.fetching
    const now = this.clock.monotonic()
    this.isWanted = now < this.renewableAt
    if (this.isWanted) return
    this.allAllowedAt = Math.max(this.allAllowedAt, now) + unknown.everyMs
    await this.fetchOnce()
  }

  private fetchOnce(): Promise<void> {
    this.fetching ??= this.fetch().finally(() => {
      this.fetching = null
    })
    return this.fetching
  }

  private async fetch(): Promise<void> {
    try {
      const { keys, maxAgeSeconds } = await askProvider(this.provider)
      this.failures = 0
      const ageMs = (maxAgeSeconds ?? schedule.everyMs / 1000) * 1000
      const pauseMs = Math.min(Math.max(ageMs, schedule.leastMs), schedule.mostMs)
      this.dueAt = this.clock.monotonic() + pauseMs
      this.take(keys)
    } catch (error) {
      const pauseMs = Math.min(schedule.firstPauseMs * 2 ** this.failures, schedule.longestPauseMs)
      this.failures++
      this.dueAt = this.clock.monotonic() + pauseMs
      this.pausedUntil = this.dueAt
      this.complain(error)
    }
  }

  private take(keys: readonly PublicKey[]): void {
    const isChange = JSON.stringify(keys) !== JSON.stringify(this.keys)
    if (isChange || this.news !== 'answers') {
      const text = this.news.startsWith('fails') ? 'answers again' : 'returned its keys'
      const names = keys.map(({ kid }) => (kid === undefined ? '(without a kid)' : shown(kid)))
      this.log.info(
        { issuer: this.provider.issuer, keys: keys.length, names },
        `the identity provider ${text}`,
      )
    }
    this.news = 'answers'
    if (!isChange) return
    this.keys = keys
    try {
      keepKeys(this.dataDir, this.provider, keys)
    } catch (error) {
      this.log.warn(
        { reason: shortReasonOf(error) },
        'issuer-keys.json cannot be written, so a server that starts while the provider is down has no keys',
      )
    }
  }

  /** Logs each reason once, so that a provider that is down for a day takes a line or two. */
  private complain(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    if (this.news === `fails: ${reason}`) return
    this.news = `fails: ${reason}`
    const fix = error instanceof ProviderFailure ? error.fix : undefined
    const { length } = this.keys
    const meanwhile =
      length === 0 ? 'no session token can be verified until it does' : 'the last ones stay in use'
    this.log.warn(
      { issuer: this.provider.issuer, reason, fix, keys: length },
      `the identity provider does not return keys: ${meanwhile}`,
    )
  }
}

/**
 * A provider's last good keys in `issuer-keys.json`, for a start while it is down: a JWK set, bound to the
 * issuer and, if one is configured, to the address.
 */

const fileIn = (dataDir: string) => join(dataDir, 'issuer-keys.json')

/**
 * The stored keys of this provider; none if there is no file, or if it is another provider's.
 *
 * @throws what the file system or the JSON parser throws
 */
function readKeptKeys(dataDir: string, provider: IdentityProvider): PublicKey[] {
  let text: string
  try {
    text = readFileSync(fileIn(dataDir), 'utf8')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return []
    throw error
  }
  const kept = JSON.parse(text)
  const isThisOnes = kept?.issuer === provider.issuer && kept?.jwksUrl === provider.jwksUrl
  return isThisOnes ? publicKeysIn(kept) : []
}

/** @throws what the file system throws */
function keepKeys(
  dataDir: string,
  { issuer, jwksUrl }: IdentityProvider,
  keys: readonly PublicKey[],
): void {
  const text = `${JSON.stringify({ issuer, jwksUrl, keys }, null, 2)}\n`
  replaceSynced(fileIn(dataDir), text)
}
