const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Random bytes drawn in advance, because every request needs some, and a call for each would cost more. */
const drawn = new Uint8Array(4_096)
let used = drawn.length

function randomByte(): number {
  if (used === drawn.length) {
    crypto.getRandomValues(drawn)
    used = 0
  }
  const byte = drawn[used]!
  // Cleared, so that nobody who reads this memory later learns keys that were made from it.
  drawn[used++] = 0
  return byte
}

/** The character for each byte: every character has four bytes, and the last eight bytes have none (0). */
const characterOf = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 248 ? alphabet.charCodeAt(byte % 62) : 0,
)

const ascii = new TextDecoder()

/** `length` characters of [A-Za-z0-9], each equally likely: bytes without a character are drawn again. */
export function randomText(length: number): string {
  const characters = new Uint8Array(length)
  for (let i = 0; i < length; ) {
    const character = characterOf[randomByte()]!
    if (character > 0) characters[i++] = character
  }
  return ascii.decode(characters)
}

export type IdPrefix =
  | 'org'
  | 'flow'
  | 'step'
  | 'item'
  | 'token'
  | 'alert'
  | 'webhook'
  | 'msg'
  | 'author'
  | 'preview'
  | 'segment'
  | 'member'
  | 'invitation'

/** A new opaque id, `<prefix>_` and 18 characters: 107 random bits. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomText(18)}`
}

/** A new snippet key: 32 characters of [A-Za-z0-9]. */
export function newSnippetKey(): string {
  return randomText(32)
}

/** A new secret for hashes of user ids: 48 characters of [A-Za-z0-9], 285 random bits. */
export function newIdentitySecret(): string {
  return randomText(48)
}

/** The form of a snippet key. It does not say whether such a key exists. */
export const snippetKeyForm = /^[A-Za-z0-9]{32}$/

/** An id for an event that was sent without one: UUIDv7 (RFC 9562, section 5.7), which contains its time. */
export function newEventId(): string {
  return Bun.randomUUIDv7()
}
