const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** `length` characters of [A-Za-z0-9], each of the 62 equally likely (bytes past 4 · 62 are drawn again). */
function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      if (byte < 248 && text.length < length) text += alphabet[byte % 62]
    }
  }
  return text
}

export type IdPrefix = 'org' | 'flow' | 'step' | 'item'

/** A new opaque id, `<prefix>_` and 18 characters: 107 random bits. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomText(18)}`
}

/** A new snippet key: 32 characters of [A-Za-z0-9]. */
export function newSnippetKey(): string {
  return randomText(32)
}

/** Whether a text has the form of a snippet key; says nothing about whether one exists. */
export function isSnippetKey(text: string): boolean {
  return /^[A-Za-z0-9]{32}$/.test(text)
}

/**
 * An event id for an event that came without one: UUIDv7 (RFC 9562, section 5.7), because ids
 * that grow with time keep the index on them fast.
 */
export function newEventId(): string {
  return Bun.randomUUIDv7()
}

/** A new request id: short enough for a log line, random enough to be found again. */
export function newRequestId(): string {
  return randomText(16)
}
