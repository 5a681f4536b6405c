import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** A text as people read it: trimmed, with every run of white space replaced by one space. */
export const folded = (text: string): string => text.trim().replace(/\s{2,}|[^\S ]/g, ' ')

/** The SHA-256 of a text that is already folded, in lower-case hex. */
export const hashOfFolded = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)))

/**
 * The SHA-256 of a text after folding, in lower-case hex, so that an element whose text may not be sent can
 * still be compared. In plain JavaScript, so that pages and the server get the same result.
 */
export const textHash = (text: string): string => hashOfFolded(folded(text))
