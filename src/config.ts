import { readFileSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { longestRetentionDays } from './core/organisation/catalogue.ts'
import { secureUrl, shownAddress } from './core/organisation/secure-url.ts'
import { mostSettingsBytes, readSettingsFile } from './core/text/settings-file.ts'
import { nearest } from './core/text/wording.ts'
import { dayMs, hourMs, longestGraceHours, minuteMs } from './core/time/durations.ts'

/**
 * Every setting of Cairn in one table. A setting's flag (`--flush-every-ms`) and its environment
 * variable (`CAIRN_FLUSH_EVERY_MS`) follow from its name; a flag wins over the variable, that over a
 * line of the settings file, and that over the default. The manual's table and the
 * commands' help are printed from here.
 */

interface Setting<T> {
  /** Of the flag's value in a command's help. */
  placeholder: string
  /** As text, read by the same parser; null where there is none. */
  default: string | null
  /** What the manual says in place of a default that depends on the machine. */
  defaultShown?: string
  help: string
  /** A secret has no flag, because other users of the machine see those; it may come from a file. */
  secret?: boolean
  /** @returns the value, or what is wrong and what to do as `Wrong` */
  parse(text: string): T | Wrong
}

class Wrong {
  /** @param is what a secret is that cannot be shown */
  constructor(
    readonly advice: string,
    readonly is = 'is wrong',
  ) {}
}

const wholeNumber =
  (least: number, most: number) =>
  (text: string): number | Wrong => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    return new Wrong(`set a whole number from ${least} to ${most}`)
  }

const sizes: Record<string, number> = { '': 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 }

const bytes =
  (least: number, most: number) =>
  (text: string): number | Wrong => {
    const [, count, unit = ''] = /^(\d{1,15}) ?(b|[kmg](?:i?b)?)?$/i.exec(text) ?? []
    const value = Number(count) * (sizes[unit.slice(0, 1).toLowerCase()] ?? Number.NaN)
    if (value >= least && value <= most) return value
    return new Wrong(
      `set a size from ${least / 2 ** 20}mb to ${most / 2 ** 20}mb, such as 64mb or 67108864`,
    )
  }

const oneOf =
  <const Words extends readonly string[]>(...words: Words) =>
  (text: string): Words[number] | Wrong =>
    words.includes(text) ? text : new Wrong(`set one of ${words.join(', ')}`)

const durations: Record<string, number> = { m: minuteMs, h: hourMs, d: dayMs }

/** In milliseconds. */
const duration =
  (leastMinutes: number, mostDays: number, example: string) =>
  (text: string): number | Wrong => {
    const [, count, unit = ''] = /^(\d{1,9}) ?([mhd])$/i.exec(text) ?? []
    const value = Number(count) * (durations[unit.toLowerCase()] ?? Number.NaN)
    if (value >= leastMinutes * minuteMs && value <= mostDays * dayMs) return value
    return new Wrong(`set a time from ${leastMinutes}m to ${mostDays}d, such as ${example}`)
  }

const text =
  (what: string) =>
  (value: string): string | Wrong =>
    value.trim() === value && value !== '' ? value : new Wrong(`set ${what}, without spaces around`)

/** Any text, since it is only compared; but as an address, one that an issuer may have. */
const issuer = (value: string): string | Wrong => {
  const url = URL.parse(value)
  const isAddress = /^[a-z][a-z\d+.-]*:\/\//i.test(value)
  // OpenID Connect Discovery 1.0, section 3; and it is shown in logs.
  if (isAddress && (!url || url.username || url.password || /[?#]/.test(value))) {
    return new Wrong('set an address without user, query and fragment, as it stands in the tokens')
  }
  return text('the issuer as it stands in the tokens')(value)
}

/** Where browsers reach this server, without a slash at its end. */
const publicAddress = (value: string): string | Wrong => {
  const url = URL.parse(value)
  const isHttp = url && /^https?:$/.test(url.protocol)
  if (isHttp && url.username + url.password + url.search + url.hash === '') {
    return url.href.replace(/\/+$/, '')
  }
  return new Wrong('set the address of this server for browsers, such as https://cairn.example.com')
}

/** A media type, of which a token may leave out the "application/" (RFC 7515, section 4.1.9). */
const tokenType = (value: string): string | Wrong =>
  /^(?:application\/)?[\w!#$&^.+-]{1,127}$/i.test(value)
    ? value
    : new Wrong('set the "typ" as it stands in the tokens, such as at+jwt')

/** Where mail goes out; it can hold a password, so it is never shown. */
const mailServer = (value: string): string | Wrong => {
  const url = URL.parse(value)
  return url && /^smtps?:$/.test(url.protocol) && url.hostname !== ''
    ? value
    : new Wrong(
        'set the address of a mail server, such as smtps://user:password@mail.example.com or smtp://localhost:25',
      )
}

/** Where requests are counted; it can hold a password, so it is never shown. */
const limitsServer = (value: string): string | Wrong => {
  const url = URL.parse(value)
  const isServer =
    url &&
    /^(redis|valkey)s?:$/.test(url.protocol) &&
    url.hostname !== '' &&
    url.port !== '0' &&
    /^(\/\d{0,4})?$/.test(url.pathname) &&
    url.search + url.hash === '' &&
    // Somebody without a password is nobody in particular.
    (url.username === '' || url.password !== '') &&
    !/%(?![\da-f]{2})/i.test(url.username + url.password)
  return isServer
    ? value
    : new Wrong(
        'set the address of a Valkey or Redis server, such as redis://limits.example.com:6379, or rediss://user:password@limits.example.com/1 with TLS and the number of a database; in a password write %2F for / and the like',
      )
}

const tlsModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']

/** Where nodes keep what they share; it can hold a password, so it is never shown. */
const databaseServer = (value: string): string | Wrong => {
  const url = URL.parse(value)
  const isDatabase =
    url &&
    /^postgres(ql)?:$/.test(url.protocol) &&
    // Several hosts cannot be named.
    /^[^,]+$/.test(url.hostname) &&
    url.port !== '0' &&
    // Behind an @ may be the rest of a password.
    /^\/[^/@]+$/.test(url.pathname) &&
    !url.search.includes('@') &&
    url.hash === '' &&
    !/%(?![\da-f]{2})/i.test(url.username + url.password + url.pathname) &&
    tlsModes.includes(url.searchParams.get('sslmode') ?? 'disable') &&
    (url.searchParams.get('pooler') ?? 'transaction') === 'transaction'
  return isDatabase
    ? value
    : new Wrong(
        'set the address of a PostgreSQL database, such as postgres://user:password@db.example.com/cairn?sslmode=verify-full, with &pooler=transaction where PgBouncer is in between; in a password write %2F for / and the like',
      )
}

const mailAddress = (value: string): string | Wrong =>
  /^(?:[^<>@\r\n]* <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(value)
    ? value
    : new Wrong('set a mail address, such as cairn@example.com or Cairn <cairn@example.com>')

const keysAddress = (value: string): string | Wrong =>
  secureUrl(value)
    ? value
    : new Wrong('set an https address, or an http one on this machine, such as http://localhost')

const leastSecretBytes = 32

const secret = (value: string): string | Wrong =>
  Buffer.byteLength(value) >= leastSecretBytes
    ? value
    : new Wrong(
        `give at least ${leastSecretBytes} bytes, for instance what "openssl rand -hex 32" prints`,
        'is too short',
      )

const setting = <T>(definition: Setting<T>) => definition

/** A setting that may be absent. */
const optional = <T>(definition: Omit<Setting<T>, 'default'>) =>
  ({ ...definition, default: null }) as Setting<T> & { default: null }

/** All settings, in the order in which the manual and the help list them. */
export const settings = {
  config: optional({
    placeholder: 'file',
    help: 'file of further settings: a line NAME=value each, named as the variables; read again on SIGHUP',
    parse: text('a file'),
  }),
  data: setting({
    placeholder: 'dir',
    default: './cairn-data',
    help: 'directory that holds everything Cairn stores, unless CAIRN_DATABASE_URL names a database',
    parse: text('a directory'),
  }),
  databaseUrl: optional({
    placeholder: 'url',
    secret: true,
    help: 'PostgreSQL database that several nodes share, and commands work on, such as postgres://user:password@db.example.com/cairn?sslmode=verify-full; the data directory has it all unless set',
    parse: databaseServer,
  }),
  port: setting({
    placeholder: 'port',
    default: '8080',
    help: 'port of the API; 0 takes any free one',
    parse: wholeNumber(0, 65_535),
  }),
  host: setting({
    placeholder: 'address',
    default: '0.0.0.0',
    help: 'address that the API listens on',
    parse: text('an address, such as 127.0.0.1'),
  }),
  managementPort: setting({
    placeholder: 'port',
    default: '9090',
    help: 'port of /healthz, /readyz and /metrics; 0 takes any free one',
    parse: wholeNumber(0, 65_535),
  }),
  managementHost: setting({
    placeholder: 'address',
    default: '127.0.0.1',
    help: 'address that the management port listens on',
    parse: text('an address, such as 127.0.0.1'),
  }),
  threads: setting({
    placeholder: 'count',
    default: String(Math.min(64, Math.max(1, availableParallelism() - 1))),
    defaultShown: 'the cores less one, at least 1',
    help: 'threads that answer requests',
    parse: wholeNumber(1, 64),
  }),
  ack: setting({
    placeholder: 'when',
    default: 'commit',
    help: 'when a 202 leaves: after the "commit" to disk, or once it is in the "buffer"',
    parse: oneOf('commit', 'buffer'),
  }),
  bufferEvents: setting({
    placeholder: 'count',
    default: '50000',
    help: 'events that may wait for the disk before callers get 503',
    parse: wholeNumber(100, 10_000_000),
  }),
  bufferBytes: setting({
    placeholder: 'size',
    default: '64mb',
    help: 'bytes that may wait for the disk before callers get 503',
    // At least two of the largest requests; at most what a 32-bit counter holds with room to spare.
    parse: bytes(2 * 2 ** 20, 2 ** 30),
  }),
  flushEveryMs: setting({
    placeholder: 'ms',
    default: '100',
    help: 'longest time that what nobody waits for is held back from the disk, milliseconds',
    parse: wholeNumber(1, 10_000),
  }),
  retentionDays: setting({
    placeholder: 'days',
    default: '90',
    help: 'days that raw events are accepted back and kept; analytics stay',
    parse: wholeNumber(1, longestRetentionDays),
  }),
  backupEvery: optional({
    placeholder: 'time',
    help: 'how often a running server makes a backup, such as 6h or 1d; not at all unless set',
    parse: duration(1, 366, '6h or 1d'),
  }),
  backupDir: optional({
    placeholder: 'dir',
    help: 'directory of its own for those backups, best on another disk',
    parse: text('a directory'),
  }),
  backupKeep: setting({
    placeholder: 'count',
    default: '7',
    help: 'how many of those backups are kept, the newest',
    parse: wholeNumber(1, 10_000),
  }),
  checkpoints: setting({
    placeholder: 'who',
    default: 'cairn',
    help: 'who writes the log back into the database: "cairn", or "litestream", which must have read it before',
    parse: oneOf('cairn', 'litestream'),
  }),
  keyGraceHours: setting({
    placeholder: 'hours',
    default: '24',
    help: 'hours that a rotated snippet key or identity secret still works',
    parse: wholeNumber(0, longestGraceHours),
  }),
  sessionSecret: optional({
    placeholder: 'secret',
    secret: true,
    help: 'HS256 secret shared with the identity provider; without it and an issuer, Cairn makes the tokens itself',
    parse: secret,
  }),
  sessionIssuer: optional({
    placeholder: 'iss',
    help: 'required "iss" of session tokens; without a secret, also where its public keys are found (OpenID discovery)',
    parse: issuer,
  }),
  sessionAudience: optional({
    placeholder: 'aud',
    help: 'required "aud" of session tokens; must be set where an issuer is',
    parse: text('the audience as it stands in the tokens'),
  }),
  sessionType: optional({
    placeholder: 'typ',
    help: 'required "typ" of session tokens, such as at+jwt; unless set, a token may have that, JWT or none',
    parse: tokenType,
  }),
  sessionJwksUrl: optional({
    placeholder: 'url',
    help: "where the issuer's public keys are, for an issuer without OpenID discovery",
    parse: keysAddress,
  }),
  organisationClaim: setting({
    placeholder: 'claim',
    default: 'org',
    help: "claim of a session token that holds the organisation's id or slug",
    parse: text('the name of a claim'),
  }),
  publicUrl: optional({
    placeholder: 'url',
    help: 'where browsers reach this server, such as https://cairn.example.com; needed to sign in by an identity provider',
    parse: publicAddress,
  }),
  oidcClientId: optional({
    placeholder: 'id',
    help: 'client by which people sign in to the dashboard at the issuer; its redirect address is CAIRN_PUBLIC_URL/dashboard/sign-in/callback',
    parse: text('the id of the client'),
  }),
  oidcClientSecret: optional({
    placeholder: 'secret',
    secret: true,
    help: 'secret of that client; none for a public one',
    parse: (value: string): string => value,
  }),
  oidcRoleClaim: setting({
    placeholder: 'claim',
    default: 'cairn_role',
    help: 'claim that says what somebody may do in the dashboard: viewer, editor or owner, or a list with one of them; viewer where it says nothing',
    parse: text('the name of a claim'),
  }),
  dashboard: setting({
    placeholder: 'when',
    default: 'on',
    help: '"off": there is no dashboard, and nobody signs in',
    parse: oneOf('on', 'off'),
  }),
  webhooksPrivate: setting({
    placeholder: 'when',
    default: 'off',
    help: '"on": webhooks of alerts may go to private addresses, such as this machine, and by http',
    parse: oneOf('on', 'off'),
  }),
  smtpUrl: optional({
    placeholder: 'url',
    secret: true,
    help: 'mail server by which weekly reports leave, such as smtps://user:password@mail.example.com; none unless set',
    parse: mailServer,
  }),
  mailFrom: optional({
    placeholder: 'address',
    help: 'whom those mails are from, such as Cairn <cairn@example.com>; must be set where a mail server is',
    parse: mailAddress,
  }),
  limitsUrl: optional({
    placeholder: 'url',
    secret: true,
    help: 'Valkey or Redis server that counts requests, such as redis://limits.example.com:6379; counted in memory unless set',
    parse: limitsServer,
  }),
  limitsPatienceMs: setting({
    placeholder: 'ms',
    default: '100',
    help: 'how long a request waits for that server before it is taken for away, milliseconds; up to twice as long where it is unlucky',
    parse: wholeNumber(5, 10_000),
  }),
  limitsAway: setting({
    placeholder: 'what',
    default: 'share',
    help: 'while that server is away: "share" counts here alone, "open" lets all in, "refuse" answers 503',
    parse: oneOf('share', 'open', 'refuse'),
  }),
  logLevel: setting({
    placeholder: 'level',
    default: 'info',
    help: 'least severe level that is logged: trace, debug, info, warn, error, fatal or silent',
    parse: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  }),
  logFormat: setting({
    placeholder: 'format',
    default: 'auto',
    help: 'json, text, or auto: text on a terminal and json elsewhere',
    parse: oneOf('auto', 'json', 'text'),
  }),
}

export type SettingName = keyof typeof settings

type ValueOf<S> = S extends { parse(text: string): infer T }
  ? Exclude<T, Wrong> | (S extends { default: null } ? null : never)
  : never

/** What a process was told, read once; times and sizes are in the unit of their names. */
export type Config = { readonly [Name in SettingName]: ValueOf<(typeof settings)[Name]> }

export const settingNames = Object.keys(settings) as SettingName[]

/** All that is wrong with the configuration, a line each, saying what to do. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(readonly lines: readonly string[]) {
    super(lines.length === 1 ? lines[0] : `${lines.length} settings are wrong\n${lines.join('\n')}`)
  }
}

const snake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** `--flush-every-ms <ms>`, as Commander takes it; null for a secret. */
export function flagOf(name: SettingName): string | null {
  const { secret, placeholder } = settings[name] as Setting<unknown>
  return secret ? null : `--${snake(name).replaceAll('_', '-')} <${placeholder}>`
}

/** `CAIRN_FLUSH_EVERY_MS`. */
export const variableOf = (name: SettingName) => `CAIRN_${snake(name).toUpperCase()}`

/** What a setting is without flag and variable, for people. */
export function defaultOf(name: SettingName): string | null {
  const { default: value, defaultShown } = settings[name] as Setting<unknown>
  return defaultShown ?? value
}

export interface ConfigSource {
  /** By setting name, as typed. */
  flags?: Readonly<Record<string, unknown>>
  env?: Variables
}

type Variables = Readonly<Record<string, string | undefined>>

/** With the lines of the settings file, which are named as variables are. */
interface Layers extends ConfigSource {
  file?: { path: string; variables: Variables }
}

export interface ReadConfig<Names extends SettingName> {
  config: Pick<Config, Names>
  /** Settings that a flag or variable gave. */
  given: ReadonlySet<SettingName>
  warnings: readonly string[]
}

/** What else begins with CAIRN_ and means something. */
const otherVariables = ['CAIRN_DEBUG', 'CAIRN_FAILPOINTS']

/** Why a file that a variable names gave no value, and what to do. */
const fileFaults: Record<string, string> = {
  ENOENT: 'which does not exist: make it, or name another',
  ENOTDIR: 'which does not exist: make it, or name another',
  EISDIR: 'which is a directory: name the file in it',
  EACCES: 'which may not be read: make it readable to this user',
  EPERM: 'which may not be read: make it readable to this user',
}

const unreadable = (code: string) => `which cannot be read (${code}): name another file`

/** What gave a value, and the value; null where nothing did. An empty variable is unset. */
function given(name: SettingName, { flags = {}, env = {}, file }: Layers, problems: string[]) {
  const flag = flags[name]
  if (typeof flag === 'string') return { place: flagOf(name)?.split(' ')[0] ?? name, value: flag }
  const variable = variableOf(name)
  // A secret and the file of one are two ways to say the same: the environment's stands for both.
  if (!file || env[variable] || env[`${variable}_FILE`]) return givenBy(env, name, '', problems)
  return givenBy(file.variables, name, ` in ${file.path}`, problems)
}

/** @param where the variables stand, for whoever looks for a wrong one */
function givenBy(env: Variables, name: SettingName, where: string, problems: string[]) {
  const variable = variableOf(name)
  const fileVariable = `${variable}_FILE`
  const value = env[variable] || null
  const file = ((settings[name] as Setting<unknown>).secret && env[fileVariable]) || null
  if (value !== null && file !== null) {
    problems.push(`${variable} and ${fileVariable}${where} are both set: unset one of them`)
    return null
  }
  if (file === null) return value === null ? null : { place: variable + where, value }
  const content = textOf(file, fileVariable + where, problems)
  return content === null
    ? null
    : { place: fileVariable + where, value: content.replace(/\r?\n$/, '') }
}

/** The text of a file that a setting names; null, with the problem told, where there is none. */
function textOf(path: string, place: string, problems: string[]): string | null {
  try {
    if (statSync(path).size <= mostSettingsBytes) return readFileSync(path, 'utf8')
    problems.push(`${place} names ${path}, which is over 64 KiB: name another file`)
  } catch (error) {
    const { code = 'unknown' } = error as { code?: string }
    problems.push(`${place} names ${path}, ${fileFaults[code] ?? unreadable(code)}`)
  }
  return null
}

/** By their names alone; what links make of them, the backup itself finds. */
const isBelow = (directory: string, other: string) =>
  `${resolve(directory)}/`.startsWith(`${resolve(other)}/`)

function crossCheck(config: Partial<Config>, problems: string[]): void {
  if (config.backupEvery && config.backupDir === null) {
    problems.push(
      `${variableOf('backupEvery')} is set without a directory: set ${variableOf('backupDir')} to where the backups go`,
    )
  }
  if (config.backupDir && config.backupEvery === null) {
    problems.push(
      `${variableOf('backupDir')} is set, and no backup would be made: set ${variableOf('backupEvery')} too, such as 6h`,
    )
  }
  if (config.smtpUrl && config.mailFrom === null) {
    problems.push(
      `${variableOf('smtpUrl')} is set, and mail would be from nobody: set ${variableOf('mailFrom')} too, such as cairn@example.com`,
    )
  }
  if (config.backupDir && config.data && isBelow(config.backupDir, config.data)) {
    problems.push(
      `${variableOf('backupDir')} is in the data directory, with which backups would be lost: set a directory elsewhere, best on another disk`,
    )
  }
  if (config.databaseUrl) crossCheckDatabase(config, problems)
  const { sessionIssuer, sessionAudience, sessionSecret, sessionJwksUrl } = config
  const issuer = variableOf('sessionIssuer')
  const secret = variableOf('sessionSecret')
  const jwksUrl = variableOf('sessionJwksUrl')
  if (sessionIssuer && sessionAudience === null) {
    problems.push(
      `${issuer} is set without an audience: set ${variableOf('sessionAudience')}, so that tokens made for other services are refused`,
    )
  }
  if (sessionIssuer && sessionSecret === null && sessionJwksUrl === null) {
    if (secureUrl(sessionIssuer) === null) {
      problems.push(
        `${issuer} is "${shownAddress(sessionIssuer).slice(0, 60)}", where no keys can be found: set the issuer's https address (http on this machine only), or ${jwksUrl} to where its keys are, or ${secret} to the one that it signs with`,
      )
    }
  }
  crossCheckClient(config, problems)
  if (sessionJwksUrl && sessionIssuer === null) {
    problems.push(`${jwksUrl} is set without an issuer: set ${issuer} to the "iss" of its tokens`)
  }
  if (sessionJwksUrl && sessionSecret) {
    problems.push(
      `${jwksUrl} and ${secret} are both set: unset the one that tokens are not signed for`,
    )
  }
}

/** What is about the files of a data directory, which the data is not in. */
function crossCheckDatabase(
  { backupEvery, backupDir, checkpoints }: Partial<Config>,
  problems: string[],
): void {
  const database = variableOf('databaseUrl')
  for (const [name, isSet] of [
    ['backupEvery', backupEvery],
    ['backupDir', backupDir],
  ] as const) {
    if (!isSet) continue
    problems.push(
      `${variableOf(name)} and ${database} are both set, and Cairn backs up no database of PostgreSQL: unset the first, and have pg_dump or pgBackRest do it`,
    )
  }
  if (checkpoints === 'litestream') {
    problems.push(
      `${variableOf('checkpoints')} is "litestream" and ${database} is set, whose changes Litestream does not see: unset the first, and have a standby or pgBackRest follow them`,
    )
  }
}

/** What signing in by the provider needs besides. */
function crossCheckClient(config: Partial<Config>, problems: string[]): void {
  const { oidcClientId, oidcClientSecret, publicUrl, sessionIssuer, sessionAudience } = config
  const client = variableOf('oidcClientId')
  if (oidcClientSecret && oidcClientId === null) {
    problems.push(`${variableOf('oidcClientSecret')} is set without a client: set ${client}`)
  }
  if (!oidcClientId) return
  if (sessionIssuer === null) {
    problems.push(
      `${client} is set without an issuer: set ${variableOf('sessionIssuer')} to the provider's`,
    )
  }
  if (publicUrl === null) {
    problems.push(
      `${client} is set, and the provider has nowhere to send people back to: set ${variableOf('publicUrl')}`,
    )
  }
  if (config.sessionSecret) {
    problems.push(
      `${client} and ${variableOf('sessionSecret')} are both set: unset the secret, so that the provider's public keys verify who has signed in`,
    )
  }
  if (sessionAudience === oidcClientId) {
    problems.push(
      `${client} is the audience of session tokens too, so that whoever signs in anywhere by this client could read analytics: set ${variableOf('sessionAudience')} to one that is Cairn's alone`,
    )
  }
}

/**
 * Reads settings, all of them or those that are named.
 *
 * @throws ConfigError with every mistake at once
 */
export function readConfig<Names extends SettingName = SettingName>(
  source: ConfigSource,
  names: readonly Names[] = settingNames as Names[],
): ReadConfig<Names> {
  const problems: string[] = []
  const found = new Set<SettingName>()
  const config: Record<string, unknown> = {}
  const layers = withFile(source, problems)
  for (const name of names) {
    const { parse, default: fallback, secret } = settings[name] as Setting<unknown>
    const source_ = given(name, layers, problems)
    if (source_) found.add(name)
    const value = source_?.value ?? fallback
    const parsed = value === null ? null : parse(value)
    if (parsed instanceof Wrong) {
      const is = secret ? parsed.is : `is "${shownAddress(value ?? '').slice(0, 60)}"`
      problems.push(`${source_?.place} ${is}: ${parsed.advice}`)
    } else config[name] = parsed
  }
  crossCheck(config as Partial<Config>, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return {
    config: Object.freeze(config) as Pick<Config, Names>,
    given: found,
    warnings: [...unknownVariables(source.env ?? {}), ...unknownLines(layers)],
  }
}

/** Adds the lines of the file that the setting `config` names. */
function withFile(source: ConfigSource, problems: string[]): Layers {
  const named = given('config', source, problems)
  const path = named?.value
  const content = path === undefined ? null : textOf(path, named?.place ?? '', problems)
  if (path === undefined || content === null) return source
  const { settings: lines, faults } = readSettingsFile(content)
  problems.push(...faults.map(({ line, advice }) => `line ${line} of ${path}: ${advice}`))
  const variables = Object.fromEntries(lines.map(({ name, value }) => [name, value]))
  return { ...source, file: { path, variables } }
}

/** Names in the settings file that mean nothing there. */
function unknownLines({ file }: Layers): string[] {
  const known = knownVariables()
  known.delete(variableOf('config'))
  return Object.keys(file?.variables ?? {})
    .filter(name => !known.has(name))
    .map(name => {
      const place = `${name} in ${file?.path}`
      if (!name.startsWith('CAIRN_') || otherVariables.includes(name) || name === 'CAIRN_CONFIG') {
        return `${place} is ignored: set it in the environment`
      }
      return `${place} is no setting of Cairn and is ignored: ${spelling(name)}`
    })
}

/** The variables of all settings. */
function knownVariables(): Set<string> {
  return new Set(
    settingNames.flatMap(name => {
      const { secret } = settings[name] as Setting<unknown>
      return secret ? [variableOf(name), `${variableOf(name)}_FILE`] : [variableOf(name)]
    }),
  )
}

function unknownVariables(env: Variables): string[] {
  const known = knownVariables()
  for (const name of otherVariables) known.add(name)
  return Object.keys(env)
    .filter(name => name.startsWith('CAIRN_') && !known.has(name))
    .map(name => `${name} is no setting of Cairn and is ignored: ${spelling(name)}`)
}

/** Without what all of them begin with, which would make any two seem alike. */
function spelling(name: string): string {
  const prefix = 'CAIRN_'
  const words = [...knownVariables()].map(known => known.slice(prefix.length))
  const near = nearest(name.slice(prefix.length), words)
  return near === null ? 'check its spelling' : `did you mean ${prefix}${near}?`
}

/** The configuration table of the manual: a header and a row a setting. */
export function configurationTable(): string[] {
  const rows = settingNames.map(name => {
    const { help, secret } = settings[name] as Setting<unknown>
    const flag = flagOf(name)?.split(' ')[0]
    const variable = variableOf(name)
    const shown = defaultOf(name)
    const { defaultShown } = settings[name] as Setting<unknown>
    return [
      secret ? `\`${variable}\`, \`${variable}_FILE\`` : `\`${variable}\``,
      flag ? `\`${flag}\`` : '–',
      shown === null ? '–' : defaultShown ? shown : `\`${shown}\``,
      help,
    ]
  })
  return [['variable', 'flag', 'default', 'what it is'], ['---', '---', '---', '---'], ...rows].map(
    cells => `| ${cells.join(' | ')} |`,
  )
}
