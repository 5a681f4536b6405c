import { eventKinds } from './event.ts'
import { quoted } from './wording.ts'

/** Why no application sends a custom event by this name, as the end of a sentence, or null. */
export function eventNameFault(name: string): string | null {
  if (name.trim() === '')
    return 'the name of the event is blank; write the one that your application sends'
  if (!(eventKinds as readonly string[]).includes(name)) return null
  return `${quoted(name)} is a kind of Cairn's own events, and only custom ones count here; name one that your application sends`
}
