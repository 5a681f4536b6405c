import { createHash, randomBytes } from 'node:crypto'

/** What a management token may do. Each operation of the management API names the scope that it needs. */
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
 * Whether a text has the form of a management token, including its checksum. So a mistyped token is rejected
 * before anything is looked up, and scanners for leaked secrets can recognise tokens.
 */
export function isManagementToken(text: string): boolean {
  if (!form.test(text)) return false
  const bytes = Buffer.from(text.slice(prefix.length), 'base64url')
  return checksumOf(bytes.subarray(0, secretBytes)).equals(bytes.subarray(secretBytes))
}

/**
 * The hash of a token that is stored, in hex. A token has 256 random bits, so a plain hash cannot be
 * reversed by guessing.
 */
export const managementTokenHash = (token: string): string =>
  createHash('sha256').update(token).digest('hex')

/** What somebody who is signed in to the dashboard may do, from the least to the most. */
export const roles = ['viewer', 'editor', 'owner', 'operator'] as const

export type Role = (typeof roles)[number]

const viewer: readonly Scope[] = ['flows:read', 'analytics:read']
const editor: readonly Scope[] = [...viewer, 'flows:write', 'flows:publish', 'people:read']
const owner: readonly Scope[] = [...editor, 'people:erase', 'settings:write']

/** The operator has an owner's scopes, and may also do what is reserved for the operator of the server. */
export const scopesOfRole: Readonly<Record<Role, readonly Scope[]>> = {
  ...{ viewer, editor, owner },
  operator: owner,
}

/** The roles that an owner or a provider's claim may give. Operator is not among them: that is whoever controls the machine. */
export const memberRoles = ['viewer', 'editor', 'owner'] as const satisfies readonly Role[]

/** The highest role that a provider's claim names, or null. */
export function roleIn(claim: unknown): Role | null {
  const named = Array.isArray(claim) ? claim : [claim]
  return (
    memberRoles.findLast(role => named.some(one => one === role || one === `cairn-${role}`)) ?? null
  )
}
