import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** A text as people read it: trimmed, and with every run of white space as one space. */
export const folded = (text: string): string => text.trim().replace(/\s{2,}|[^\S ]/g, ' ')

/** The lower-case hex SHA-256 of a text that is folded already. */
export const hashOfFolded = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)))

/**
 * The lower-case hex SHA-256 of a folded text, so that an element whose text may not be sent can
 * still be compared. In plain JavaScript: pages and server compare alike.
 */
export const textHash = (text: string): string => hashOfFolded(folded(text))
