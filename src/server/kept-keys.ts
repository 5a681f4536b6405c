import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PublicKey, publicKeysIn } from '../core/organisation/key-set.ts'
import { replaceSynced } from '../storage/database/synced-files.ts'
import type { IdentityProvider } from './identity-provider.ts'

/**
 * A provider's last good keys in `issuer-keys.json`, for a start while it is down: a JWK set, bound
 * to the issuer, and to the address where one is configured.
 */

const fileIn = (dataDir: string) => join(dataDir, 'issuer-keys.json')

/**
 * The keys kept of this provider; none where there is no file, or where it is another's.
 *
 * @throws what the file system or the JSON parser throws
 */
export function readKeptKeys(dataDir: string, provider: IdentityProvider): PublicKey[] {
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
export function keepKeys(
  dataDir: string,
  { issuer, jwksUrl }: IdentityProvider,
  keys: readonly PublicKey[],
): void {
  const text = `${JSON.stringify({ issuer, jwksUrl, keys }, null, 2)}\n`
  replaceSynced(fileIn(dataDir), text)
}
