import type { AuditLog } from '../modules/access/model.ts'
import type { Command, Flags } from './command.ts'
import { addManaged, asked } from './manage.ts'
import { printJson, printTable } from './output.ts'

/** Who changed what. */
export function addAudit(cairn: Command): void {
  addManaged(cairn.command('audit'))
    .description('list the changes to an organisation and who made them, newest first')
    .option('--subject <name>', 'only changes to this subject, such as the key of a flow')
    .option('--json', 'print a JSON array, a line each, with what was before and after')
    .examples('cairn audit --org harbor', 'cairn audit --subject welcome')
    .action(async ({ subject, json }: Flags<'subject', 'json'>, command: Command) => {
      const query = subject === undefined ? '' : `?subject=${encodeURIComponent(subject)}`
      const { lines } = await asked<AuditLog>(command, `GET /audit${query}`)
      if (json) return printJson(lines)
      printTable(
        ['when', 'who', 'by', 'what', 'of', 'note'],
        lines.map(({ at, actor, via, action, subject, note }) => [
          ...[at, actor, via, action, subject, note ?? ''],
        ]),
        'no changes yet',
      )
    })
}
