import type { NewEvent, StoredEvent, WithRows } from '../../shared/in-rows.ts'
import type { StorageCommand } from '../writer/command.ts'

/** A report that came alone and that the database refused, kept as the command that it was. */
export type BuriedCommand = Exclude<
  StorageCommand,
  { type: 'append' } | { type: 'refusal' } | { type: 'snippet_version' }
>

/** An event that is in the ledger, but whose effects could not be written. */
type StoredLetter = StoredEvent & { isStored: true }

/** What a dead letter holds: a command, or an event, whose id stays free meanwhile unless the event is stored. */
export type Letter = NewEvent | StoredLetter | BuriedCommand

/** The text of a letter. It calls rows `flowRow`, `stepRow` and `itemRow`, in the text of an event too. */
export function letterText(letter: Letter): string {
  if ('type' in letter) return JSON.stringify(letter)
  const { flowRef: flowRow, stepRef: stepRow, itemRef: itemRow, ...event } = letter
  return JSON.stringify({ ...event, flowRow, stepRow, itemRow })
}

export function letterIn(text: string): Letter {
  const letter = JSON.parse(text) as WithRows<NewEvent> | BuriedCommand
  if ('type' in letter) return letter
  const { flowRow: flowRef, stepRow: stepRef, itemRow: itemRef, ...event } = letter
  return { ...event, flowRef, stepRef, itemRef }
}
