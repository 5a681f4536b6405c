import { resolve } from 'node:path'
import { secureUrl, shownAddress } from '../core/organisation/addresses.ts'
import { type Config, variableOf } from './settings.ts'

/** Compares only the names. The backup itself follows links. */
const isBelow = (directory: string, other: string) =>
  `${resolve(directory)}/`.startsWith(`${resolve(other)}/`)

/** Adds the problems of settings that are right by themselves but wrong together. */
export function crossCheck(config: Partial<Config>, problems: string[]): void {
  if (config.backupEvery && config.backupDir === null) {
    problems.push(
      `${variableOf('backupEvery')} is set without a directory: set ${variableOf('backupDir')} to where the backups go`,
    )
  }
  if (config.backupDir && config.backupEvery === null) {
    problems.push(
      `${variableOf('backupDir')} is set, but no backup would be made: set ${variableOf('backupEvery')} too, such as 6h`,
    )
  }
  if (config.smtpUrl && config.mailFrom === null) {
    problems.push(
      `${variableOf('smtpUrl')} is set without a sender: set ${variableOf('mailFrom')} too, such as cairn@example.com`,
    )
  }
  if (config.smtpUrl && config.publicUrl === null) {
    problems.push(
      `${variableOf('smtpUrl')} is set, but mails need an address for their links: set ${variableOf('publicUrl')}, such as https://cairn.example.com`,
    )
  }
  if (config.backupDir && config.data && isBelow(config.backupDir, config.data)) {
    problems.push(
      `${variableOf('backupDir')} is in the data directory and would be lost with it: choose another directory, best on another disk`,
    )
  }
  if (config.databaseUrl) crossCheckDatabase(config, problems)
  else if (config.eventsTable === 'on') {
    problems.push(
      `${variableOf('eventsTable')} is "on", but a server alone has no PostgreSQL database to copy events into: set ${variableOf('databaseUrl')}, or unset it`,
    )
  }
  const { sessionIssuer, sessionAudience, sessionSecret, sessionJwksUrl } = config
  const issuer = variableOf('sessionIssuer')
  const secret = variableOf('sessionSecret')
  const jwksUrl = variableOf('sessionJwksUrl')
  if (sessionIssuer && sessionAudience === null) {
    problems.push(
      `${issuer} is set without an audience: set ${variableOf('sessionAudience')}, so that tokens for other services are rejected`,
    )
  }
  if (sessionIssuer && sessionSecret === null && sessionJwksUrl === null) {
    if (secureUrl(sessionIssuer) === null) {
      problems.push(
        `${issuer} is "${shownAddress(sessionIssuer).slice(0, 60)}", where no keys can be found: set the issuer's https address (http on this machine only), or ${jwksUrl} to where its keys are, or ${secret} to the secret that it signs with`,
      )
    }
  }
  crossCheckClient(config, problems)
  if (sessionJwksUrl && sessionIssuer === null) {
    problems.push(`${jwksUrl} is set without an issuer: set ${issuer} to the "iss" of its tokens`)
  }
  if (sessionJwksUrl && sessionSecret) {
    problems.push(
      `${jwksUrl} and ${secret} are both set: unset the one that your tokens do not use`,
    )
  }
}

/** Rejects settings for the files of a data directory if the data is in a database. */
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
      `${variableOf(name)} and ${database} are both set, but Cairn does not back up PostgreSQL: unset the first, and use pg_dump or pgBackRest`,
    )
  }
  if (checkpoints === 'litestream') {
    problems.push(
      `${variableOf('checkpoints')} is "litestream" and ${database} is set, but Litestream cannot replicate PostgreSQL: unset the first, and use a standby or pgBackRest`,
    )
  }
}

/** Checks what else signing in with the provider needs. */
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
      `${client} is set, but the provider needs an address to redirect to: set ${variableOf('publicUrl')}`,
    )
  }
  if (config.sessionSecret) {
    problems.push(
      `${client} and ${variableOf('sessionSecret')} are both set: unset the secret, so that the provider's public keys are used to verify sign-ins`,
    )
  }
  if (sessionAudience === oidcClientId) {
    problems.push(
      `${client} is also the audience of session tokens, so anyone who signs in with this client could read results: set ${variableOf('sessionAudience')} to another`,
    )
  }
}
