import { linkSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  makeSyncedDirectory,
  replaceSynced,
  syncDirectory,
  writeSynced,
} from '../storage/sqlite/database/synced-files.ts'

/** The embedded issuer's key cannot be used; the message says why and what to do. */
export class SessionKeyUnusable extends Error {
  override readonly name = 'SessionKeyUnusable'
}

const keyBytes = 32
const keyName = 'session.key'

/**
 * The key with which Cairn signs session tokens if no identity provider is configured. Made at the first call
 * and kept in `session.key`, in hex, readable only by its owner.
 *
 * @throws SessionKeyUnusable
 */
export function sessionKey(dataDir: string): Uint8Array {
  const file = join(dataDir, keyName)
  try {
    return read(file)
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw explained(file, error)
  }
  try {
    makeSyncedDirectory(dataDir)
    make(file)
    // A power cut must not lose the key of a token that was already given out.
    syncDirectory(dataDir)
    return read(file)
  } catch (error) {
    throw explained(file, error)
  }
}

/**
 * Makes all machines that follow one log sign with one key: that of the first. To be called before anything is
 * signed.
 *
 * @param share shares a text under a name, and resolves with the one that all have
 * @throws SessionKeyUnusable
 */
export async function shareSessionKey(
  dataDir: string,
  share: (name: string, text: string) => Promise<string>,
): Promise<void> {
  const own = textOf(sessionKey(dataDir))
  const shared = await share(keyName, own)
  if (shared !== own) replaceSynced(join(dataDir, keyName), shared)
}

const newKey = () => crypto.getRandomValues(new Uint8Array(keyBytes))

const textOf = (key: Uint8Array) => `${Buffer.from(key).toString('hex')}\n`

function read(file: string): Uint8Array {
  const text = readFileSync(file, 'utf8')
  const mode = statSync(file).mode & 0o777
  if ((mode & 0o077) !== 0) {
    throw new SessionKeyUnusable(
      `${file} can be read by other users (mode ${mode.toString(8)}): run "chmod 600 ${file}", or remove it to have a new key made`,
    )
  }
  return keyIn(text, file)
}

/** @param where it was found */
function keyIn(content: string, where: string): Uint8Array {
  const text = content.trim()
  if (!/^[0-9a-f]+$/i.test(text) || text.length !== keyBytes * 2) {
    throw new SessionKeyUnusable(
      `${where} is not a session key (${keyBytes * 2} hexadecimal digits): restore it, or remove it to have a new one made; tokens signed with the old one stop working`,
    )
  }
  return new Uint8Array(Buffer.from(text, 'hex'))
}

/**
 * The key is written in full under another name and then linked. Linking fails if a key exists, so two
 * processes that start at once both use the key of the first.
 */
function make(file: string): void {
  const draft = `${file}.${process.pid}.${crypto.randomUUID()}`
  try {
    writeSynced(draft, textOf(newKey()))
    linkSync(draft, file)
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

function explained(file: string, error: unknown): Error {
  if (error instanceof SessionKeyUnusable) return error
  const { code = String(error) } = error as { code?: string }
  return new SessionKeyUnusable(
    `the session key ${file} cannot be read or made (${code}): give this user the right to`,
    { cause: error },
  )
}
