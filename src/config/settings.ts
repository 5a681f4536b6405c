import { maxRetentionDays } from '../core/organisation/catalogue.ts'
import { maxGraceHours } from '../core/time/durations.ts'
import {
  bytes,
  databaseServer,
  duration,
  issuer,
  keysAddress,
  limitsServer,
  mailAddress,
  mailServer,
  oneOf,
  publicAddress,
  secret,
  text,
  tokenType,
  wholeNumber,
} from './parsers.ts'
import { optional, type Setting, setting, type Wrong } from './setting.ts'

/**
 * Every setting of Cairn in one table. A setting's flag (`--flush-every-ms`) and its environment variable
 * (`CAIRN_FLUSH_EVERY_MS`) follow from its name. A flag takes precedence over the variable, the variable over
 * a line of the settings file, and that line over the default. The manual's table and the commands' help are
 * printed from here.
 */

/** All settings, in the order in which the manual and the help list them. */
export const settings = {
  config: optional({
    placeholder: 'file',
    help: 'file with further settings: NAME=value lines, named like the variables; read again on SIGHUP',
    parse: text('a file'),
  }),
  data: setting({
    placeholder: 'dir',
    default: './cairn-data',
    help: 'directory that holds everything Cairn stores; on one of several nodes, its own copy of what CAIRN_DATABASE_URL has',
    parse: text('a directory'),
  }),
  databaseUrl: optional({
    placeholder: 'url',
    secret: true,
    help: 'PostgreSQL database with the log that several nodes follow, such as postgres://user:password@db.example.com/cairn?sslmode=verify-full; unless set, this server is alone',
    parse: databaseServer,
  }),
  eventsTable: setting({
    placeholder: 'what',
    default: 'off',
    help: 'with CAIRN_DATABASE_URL, "on" copies each event as a row into the table "events" of the database, for SQL',
    parse: oneOf('off', 'on'),
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
  ack: setting({
    placeholder: 'when',
    default: 'commit',
    help: 'when a 202 is sent: after the "commit" to disk, or once the event is in the "buffer"',
    parse: oneOf('commit', 'buffer'),
  }),
  bufferEvents: setting({
    placeholder: 'count',
    default: '50000',
    help: 'maximum number of events that wait for the disk; over it, callers get a 503',
    parse: wholeNumber(100, 10_000_000),
  }),
  bufferBytes: setting({
    placeholder: 'size',
    default: '64mb',
    help: 'maximum size of events that wait for the disk; over it, callers get a 503',
    // At least two of the largest requests; at most what a 32-bit counter holds with room to spare.
    parse: bytes(2 * 2 ** 20, 2 ** 30),
  }),
  flushEveryMs: setting({
    placeholder: 'ms',
    default: '100',
    help: 'maximum delay of writes that no caller waits for, in milliseconds',
    parse: wholeNumber(1, 10_000),
  }),
  retentionDays: setting({
    placeholder: 'days',
    default: '90',
    help: 'days until raw events are deleted, and the maximum age of new ones; results stay',
    parse: wholeNumber(1, maxRetentionDays),
  }),
  backupEvery: optional({
    placeholder: 'time',
    help: 'time between the backups of a running server, such as 6h or 1d; default: no backups',
    parse: duration(1, 366, '6h or 1d'),
  }),
  backupDir: optional({
    placeholder: 'dir',
    help: 'directory of the backups of CAIRN_BACKUP_EVERY, best on another disk',
    parse: text('a directory'),
  }),
  backupKeep: setting({
    placeholder: 'count',
    default: '7',
    help: 'number of backups to keep; older ones are deleted',
    parse: wholeNumber(1, 10_000),
  }),
  checkpoints: setting({
    placeholder: 'who',
    default: 'cairn',
    help: 'which program checkpoints the write-ahead log: "cairn", or "litestream" to replicate with it',
    parse: oneOf('cairn', 'litestream'),
  }),
  keyGraceHours: setting({
    placeholder: 'hours',
    default: '24',
    help: 'hours that a rotated snippet key or identity secret stays valid',
    parse: wholeNumber(0, maxGraceHours),
  }),
  sessionSecret: optional({
    placeholder: 'secret',
    secret: true,
    help: 'HS256 secret shared with the identity provider; with neither secret nor issuer, Cairn issues the tokens',
    parse: secret,
  }),
  sessionIssuer: optional({
    placeholder: 'iss',
    help: 'required "iss" of session tokens; without CAIRN_SESSION_SECRET, also the address of OpenID discovery',
    parse: issuer,
  }),
  sessionAudience: optional({
    placeholder: 'aud',
    help: 'required "aud" of session tokens; required with an issuer',
    parse: text('the audience exactly as in the tokens'),
  }),
  sessionType: optional({
    placeholder: 'typ',
    help: 'required "typ" of session tokens, such as at+jwt; default: at+jwt, JWT or none',
    parse: tokenType,
  }),
  sessionJwksUrl: optional({
    placeholder: 'url',
    help: "address of the issuer's public keys, for an issuer without OpenID discovery",
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
    help: 'address of this server for browsers, such as https://cairn.example.com; required for sign-in with an identity provider and for mail',
    parse: publicAddress,
  }),
  oidcClientId: optional({
    placeholder: 'id',
    help: 'client ID for sign-in to the dashboard; its redirect URL is CAIRN_PUBLIC_URL/dashboard/sign-in/callback',
    parse: text('the id of the client'),
  }),
  oidcClientSecret: optional({
    placeholder: 'secret',
    secret: true,
    help: 'secret of the client in CAIRN_OIDC_CLIENT_ID; not needed for a public client',
    parse: (value: string): string => value,
  }),
  oidcRoleClaim: setting({
    placeholder: 'claim',
    default: 'cairn_role',
    help: 'claim with the role in the dashboard: viewer, editor or owner, or a list with one of them; default: viewer',
    parse: text('the name of a claim'),
  }),
  dashboard: setting({
    placeholder: 'when',
    default: 'on',
    help: '"off" disables the dashboard',
    parse: oneOf('on', 'off'),
  }),
  webhooksPrivate: setting({
    placeholder: 'when',
    default: 'off',
    help: '"on" allows private addresses and http in alert webhooks',
    parse: oneOf('on', 'off'),
  }),
  smtpUrl: optional({
    placeholder: 'url',
    secret: true,
    help: 'mail server for weekly reports, such as smtps://user:password@mail.example.com',
    parse: mailServer,
  }),
  mailFrom: optional({
    placeholder: 'address',
    help: 'sender of weekly reports, such as Cairn <cairn@example.com>; required with CAIRN_SMTP_URL',
    parse: mailAddress,
  }),
  limitsUrl: optional({
    placeholder: 'url',
    secret: true,
    help: 'Valkey or Redis server that counts requests, such as redis://limits.example.com:6379; default: counted in memory',
    parse: limitsServer,
  }),
  limitsPatienceMs: setting({
    placeholder: 'ms',
    default: '100',
    help: 'milliseconds that a request waits for the server in CAIRN_LIMITS_URL before it counts as unreachable; at most twice as long',
    parse: wholeNumber(5, 10_000),
  }),
  logLevel: setting({
    placeholder: 'level',
    default: 'info',
    help: 'minimum level of log lines: trace, debug, info, warn, error, fatal or silent',
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

/** The settings of a process, read once; times and sizes are in the unit of their names. */
export type Config = { readonly [Name in SettingName]: ValueOf<(typeof settings)[Name]> }

export const settingNames = Object.keys(settings) as SettingName[]

const snake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** `--flush-every-ms <ms>`, as Commander takes it; null for a secret. */
export function flagOf(name: SettingName): string | null {
  const { secret, placeholder } = settings[name] as Setting<unknown>
  return secret ? null : `--${snake(name).replaceAll('_', '-')} <${placeholder}>`
}

/** `CAIRN_FLUSH_EVERY_MS`. */
export const variableOf = (name: SettingName) => `CAIRN_${snake(name).toUpperCase()}`

/** The value of a setting without flag and variable, for people. */
export function defaultOf(name: SettingName): string | null {
  const { default: value, defaultShown } = settings[name] as Setting<unknown>
  return defaultShown ?? value
}
