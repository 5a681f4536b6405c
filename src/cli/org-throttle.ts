import { mostInterruptions } from '../core/organisation/catalogue.ts'
import type { Command, Flags } from './command.ts'
import { UsageFailure } from './failure.ts'
import { orgCommand } from './manage.ts'
import { countIn, settingsAfter } from './org-settings.ts'
import { counted, print, printJson } from './output.ts'

type Options = Flags<never, 'none' | 'json'>

export function addThrottle(org: Command): void {
  orgCommand(org, 'throttle')
    .description('show or set how often a person may be interrupted in 24 hours')
    .argument('[times]', 'tours and announcements that may begin for one person')
    .option('--none', 'no limit: show flows whenever they are due (the default)')
    .option('--json', 'print {id, slug, throttle} as JSON, null for no such rule')
    .examples(
      'cairn org throttle harbor',
      'cairn org throttle harbor 2',
      'cairn org throttle harbor --none',
    )
    .notes(`Checklists interrupt nobody and do not count, nor do flows that your page starts
itself with cairn.start(). A flow that has started goes on.`)
    .action(async (name: string | undefined, times: string | undefined, ...rest: unknown[]) => {
      const [{ none, json }, command] = rest as [Options, Command]
      if (none && times !== undefined) throw new UsageFailure('give a number or --none, not both')
      const most = times === undefined ? null : countIn('times', times, mostInterruptions)
      const change = none || times !== undefined ? { throttle: most } : null
      const { id, slug, throttle } = await settingsAfter(command, name, change)
      if (json) printJson({ id, slug, throttle })
      else if (throttle === null) print('as often as flows are due (the default)')
      else print(`${counted(throttle, 'time')} in 24 hours`)
    })
}
