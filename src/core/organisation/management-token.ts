import { createHash, randomBytes } from 'node:crypto'

/** What a management token may do; each verb of the management API names the one that it needs. */
export const scopes = [
  'flows:read',
  'flows:write',
  'flows:publish',
  'analytics:read',
  'people:read',
  'people:erase',
  'settings:write',
] as const

export type Scope = (typeof scopes)[number]

const prefix = 'crn_'
const secretBytes = 32
const checksumBytes = 4
const form = /^crn_[A-Za-z0-9_-]{48}$/

const checksumOf = (secret: Uint8Array): Buffer => {
  const checksum = Buffer.alloc(checksumBytes)
  checksum.writeUInt32BE(Bun.hash.crc32(secret))
  return checksum
}

/** A new token: `crn_` and 32 random bytes with their CRC-32, in base64url. */
export function newManagementToken(): string {
  const secret = randomBytes(secretBytes)
  return prefix + Buffer.concat([secret, checksumOf(secret)]).toString('base64url')
}

/**
 * Whether a text has the form of a management token, its checksum included: a mistyped one is refused
 * before anything is looked up, and scanners for leaked secrets can tell it from other text.
 */
export function isManagementToken(text: string): boolean {
  if (!form.test(text)) return false
  const bytes = Buffer.from(text.slice(prefix.length), 'base64url')
  return checksumOf(bytes.subarray(0, secretBytes)).equals(bytes.subarray(secretBytes))
}

/** What is stored of a token, in hex. It has 256 random bits, so that a plain hash cannot be guessed back. */
export const managementTokenHash = (token: string): string =>
  createHash('sha256').update(token).digest('hex')
