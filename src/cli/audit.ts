import type { Command } from './command.ts'
import { addRow, option } from './table.ts'

export function addAudit(cairn: Command): void {
  addRow(cairn, {
    name: 'audit',
    about: 'list the latest changes to an organisation and who made them, newest first',
    options: [option('--subject <name>', 'only changes to this, such as the key of a flow')],
    route: 'GET /audit',
    query: ({ subject }) => ({ subject }),
    part: 'lines',
    columns: {
      when: 'at',
      who: 'actor',
      by: 'via',
      change: 'action',
      subject: 'subject',
      note: 'note',
    },
    none: 'no changes yet',
    examples: ['cairn audit', 'cairn audit --subject welcome --json'],
  })
}
