import type { Command } from './command.ts'
import { addManaged, managed } from './manage.ts'
import { printJson, printTable } from './output.ts'

/** A line of the audit log as the API tells it. */
interface Line {
  at: string
  via: string
  actor: string
  action: string
  subject: string
  note: string | null
}

/** Who changed what. */
export function addAudit(cairn: Command): void {
  addManaged(cairn.command('audit'))
    .description('who changed what of an organisation, newest first')
    .option('--subject <name>', 'of one flow by its key, or whatever else was changed')
    .option('--json', 'print a JSON array, a line each, with what was before and after')
    .examples('cairn audit --org harbor', 'cairn audit --subject welcome')
    .action(async (options: { subject?: string; json?: boolean }, command: Command) => {
      const { subject, json } = options
      const query = subject === undefined ? '' : `?subject=${encodeURIComponent(subject)}`
      const { lines } = await managed(command, ({ ask }) =>
        ask<{ lines: Line[] }>(`GET /audit${query}`),
      )
      if (json) return printJson(lines)
      printTable(
        ['when', 'who', 'by', 'what', 'of', 'note'],
        lines.map(({ at, actor, via, action, subject, note }) => [
          at,
          actor,
          via,
          action,
          subject,
          note ?? '',
        ]),
        'nothing was changed yet',
      )
    })
}
