import { quoted } from '../text/wording.ts'
import { eventKinds } from './event.ts'

/** Why no application sends a custom event by this name, as the end of a sentence, or null. */
export function eventNameFault(name: string): string | null {
  if (name.trim() === '')
    return 'the name of the event is blank; write the one that your application sends'
  if (!(eventKinds as readonly string[]).includes(name)) return null
  return `${quoted(name)} is a kind of Cairn's own events, and only custom ones count here; name one that your application sends`
}

/**
 * Why a name is probably not the one that is sent, in a sentence, or null. Names are compared as
 * they are, and a page may send any: so it is odd, not impossible.
 */
export function eventNameOddity(name: string): string | null {
  if (name !== name.trim()) {
    return `The name ${quoted(name)} begins or ends with white space, which counts: remove it, unless the name that you send has it`
  }
  if (!/\p{Cc}/u.test(name)) return null
  return `The name ${quoted(name)} has a control character in it, which counts: remove it, unless the name that you send has it`
}
