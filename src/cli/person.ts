import type { Command } from './command.ts'
import { addAllow } from './person/allow.ts'
import { addErase } from './person/erase.ts'
import { addExport } from './person/export.ts'

export function addPerson(cairn: Command): void {
  const person = cairn
    .command('person')
    .description("a person's data: hand it out, erase it")
    .examples(
      'cairn person export harbor ada --out ada.json',
      'cairn person erase harbor ada',
      'cairn person allow harbor ada',
    )
  addExport(person)
  addErase(person)
  addAllow(person)
}
