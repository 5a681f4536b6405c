import type { Command } from 'commander'
import { withdrawFlows } from '../../storage/flow-store.ts'
import { changeData, organisationNamed } from '../data.ts'
import { examples } from '../examples.ts'
import { addSettings, settingsOf } from '../settings.ts'
import { orgHelp, printChanges } from './records.ts'

interface Options {
  org?: string
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
  addSettings(flows.command(verb), ['data'])
    .description(purpose)
    .argument('<key...>', 'keys of flows')
    .option('--org <org>', orgHelp)
    .option('--json', 'print a JSON array, a flow each')
    .addHelpText('after', examples(`cairn flows ${verb} spring-release --org harbor`))
    .action(async (keys: string[], options: Options, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const changes = await changeData(data, database => {
        const { row } = organisationNamed(database, options.org)
        return withdrawFlows(database, row, keys, status, Date.now())
      })
      printChanges(changes, options, ({ outcome }) =>
        outcome === 'unchanged' ? `already ${status}` : status,
      )
    })
}
