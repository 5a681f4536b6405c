import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { addManaged, managed } from '../manage.ts'
import { addSettings } from '../settings.ts'
import { printChanges, type StatusChange } from './records.ts'

interface Options {
  note?: string
  json?: boolean
}

/** What takes a flow from callers' sight, and the status that it leaves. */
const withdrawals = {
  unpublish: {
    status: 'draft',
    purpose: 'take flows back to draft: no page shows them any more',
  },
  archive: {
    status: 'archived',
    purpose: 'put flows away: no page shows them any more, analytics stay',
  },
} as const

export function addWithdrawal(flows: Command, verb: keyof typeof withdrawals): void {
  const { status, purpose } = withdrawals[verb]
  addManaged(addSettings(flows.command(verb), ['data']))
    .description(purpose)
    .argument('<key...>', 'keys of flows')
    .option('--note <text>', 'why, for the audit log')
    .option('--json', 'print a JSON array, a flow each')
    .addHelpText('after', examples(`cairn flows ${verb} spring-release --org harbor`))
    .action(async (keys: string[], { note, json }: Options, command: Command) => {
      const { flows } = await managed(command, ({ ask }) =>
        ask<{ flows: StatusChange[] }>(`POST /${verb}`, {
          body: { keys, ...(note !== undefined && { note }) },
        }),
      )
      printChanges(flows, json ? { json } : {}, ({ outcome }) =>
        outcome === 'unchanged' ? `already ${status}` : status,
      )
    })
}
