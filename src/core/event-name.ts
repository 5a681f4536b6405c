import { eventKinds } from './event.ts'
import { quoted } from './wording.ts'

/** Why no application would send a `custom` event by this name, or null. */
export function eventNameFault(name: string): string | null {
  if (name.trim() === '') return 'The name of the event is blank: write the one that you send'
  if (!(eventKinds as readonly string[]).includes(name)) return null
  return `${quoted(name)} is a kind of event that Cairn keeps for itself: name a custom event that your application sends`
}
