import { secureUrl } from '../core/organisation/addresses.ts'
import { dayMs, hourMs, minuteMs } from '../core/time/durations.ts'
import { Wrong } from './setting.ts'

/** Parsers of settings: each returns a value or the problem. */

/** A whole number within bounds. */
export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number | Wrong => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    return new Wrong(`set a whole number from ${min} to ${max}`)
  }

const sizes: Record<string, number> = { '': 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 }

/** A size, in bytes. */
export const bytes =
  (min: number, max: number) =>
  (text: string): number | Wrong => {
    const [, count, unit = ''] = /^(\d{1,15}) ?(b|[kmg](?:i?b)?)?$/i.exec(text) ?? []
    const value = Number(count) * (sizes[unit.slice(0, 1).toLowerCase()] ?? Number.NaN)
    if (value >= min && value <= max) return value
    return new Wrong(
      `set a size from ${min / 2 ** 20}mb to ${max / 2 ** 20}mb, such as 64mb or 67108864`,
    )
  }

/** One of a few words. */
export const oneOf =
  <const Words extends readonly string[]>(...words: Words) =>
  (text: string): Words[number] | Wrong =>
    words.includes(text) ? text : new Wrong(`set one of ${words.join(', ')}`)

const durations: Record<string, number> = { m: minuteMs, h: hourMs, d: dayMs }

/** A time, in milliseconds. */
export const duration =
  (minMinutes: number, maxDays: number, example: string) =>
  (text: string): number | Wrong => {
    const [, count, unit = ''] = /^(\d{1,9}) ?([mhd])$/i.exec(text) ?? []
    const value = Number(count) * (durations[unit.toLowerCase()] ?? Number.NaN)
    if (value >= minMinutes * minuteMs && value <= maxDays * dayMs) return value
    return new Wrong(`set a time from ${minMinutes}m to ${maxDays}d, such as ${example}`)
  }

/** Any text without spaces around it. */
export const text =
  (what: string) =>
  (value: string): string | Wrong =>
    value.trim() === value && value !== ''
      ? value
      : new Wrong(`set ${what}, without spaces around it`)

/** Any text, because it is only compared. An address has to be one that an issuer may have. */
export const issuer = (value: string): string | Wrong => {
  const url = URL.parse(value)
  const isAddress = /^[a-z][a-z\d+.-]*:\/\//i.test(value)
  // OpenID Connect Discovery 1.0, section 3; it is also shown in logs.
  if (isAddress && (!url || url.username || url.password || /[?#]/.test(value))) {
    return new Wrong('set an address without user, query and fragment, exactly as in the tokens')
  }
  return text('the issuer exactly as in the tokens')(value)
}

/** Where browsers reach this server, without a slash at its end. */
export const publicAddress = (value: string): string | Wrong => {
  const url = URL.parse(value)
  const isHttp = url && /^https?:$/.test(url.protocol)
  if (isHttp && url.username + url.password + url.search + url.hash === '') {
    return url.href.replace(/\/+$/, '')
  }
  return new Wrong('set the address of this server for browsers, such as https://cairn.example.com')
}

/** A media type, from which a token may leave out the "application/" (RFC 7515, section 4.1.9). */
export const tokenType = (value: string): string | Wrong =>
  /^(?:application\/)?[\w!#$&^.+-]{1,127}$/i.test(value)
    ? value
    : new Wrong('set the "typ" exactly as in the tokens, such as at+jwt')

/** The mail server; its address can hold a password, so it is never shown. */
export const mailServer = (value: string): string | Wrong => {
  const url = URL.parse(value)
  return url && /^smtps?:$/.test(url.protocol) && url.hostname !== ''
    ? value
    : new Wrong(
        'set the address of a mail server, such as smtps://user:password@mail.example.com or smtp://localhost:25',
      )
}

/** The server that counts requests; its address can hold a password, so it is never shown. */
export const limitsServer = (value: string): string | Wrong => {
  const url = URL.parse(value)
  const isServer =
    url &&
    /^(redis|valkey)s?:$/.test(url.protocol) &&
    url.hostname !== '' &&
    url.port !== '0' &&
    /^(\/\d{0,4})?$/.test(url.pathname) &&
    url.search + url.hash === '' &&
    // A user name needs a password, because without one it stands for nobody in particular.
    (url.username === '' || url.password !== '') &&
    !/%(?![\da-f]{2})/i.test(url.username + url.password)
  return isServer
    ? value
    : new Wrong(
        'set the address of a Valkey or Redis server, such as redis://limits.example.com:6379, or rediss://user:password@limits.example.com/1 with TLS and a database number; in a password write %2F for / and the like',
      )
}

const tlsModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']

/** The database that nodes share; its address can hold a password, so it is never shown. */
export const databaseServer = (value: string): string | Wrong => {
  const url = URL.parse(value)
  const isDatabase =
    url &&
    /^postgres(ql)?:$/.test(url.protocol) &&
    // Only one host can be named.
    /^[^,]+$/.test(url.hostname) &&
    url.port !== '0' &&
    // What follows an @ may be the rest of a password.
    /^\/[^/@]+$/.test(url.pathname) &&
    !url.search.includes('@') &&
    url.hash === '' &&
    !/%(?![\da-f]{2})/i.test(url.username + url.password + url.pathname) &&
    tlsModes.includes(url.searchParams.get('sslmode') ?? 'disable') &&
    (url.searchParams.get('pooler') ?? 'transaction') === 'transaction'
  return isDatabase
    ? value
    : new Wrong(
        'set the address of a PostgreSQL database, such as postgres://user:password@db.example.com/cairn?sslmode=verify-full, with &pooler=transaction behind PgBouncer; in a password write %2F for / and the like',
      )
}

/** The sender of mail, with or without a name. */
export const mailAddress = (value: string): string | Wrong =>
  /^(?:[^<>@\r\n]* <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(value)
    ? value
    : new Wrong('set a mail address, such as cairn@example.com or Cairn <cairn@example.com>')

/** Where an issuer's public keys are. */
export const keysAddress = (value: string): string | Wrong =>
  secureUrl(value)
    ? value
    : new Wrong('set an https address, or an http one on this machine, such as http://localhost')

const minSecretBytes = 32

/** The secret that signs tokens: long enough not to be guessed. */
export const secret = (value: string): string | Wrong =>
  Buffer.byteLength(value) >= minSecretBytes
    ? value
    : new Wrong(
        `give at least ${minSecretBytes} bytes, for instance the output of "openssl rand -hex 32"`,
        'is too short',
      )
