import type { Database } from 'bun:sqlite'
import type { Command } from 'commander'
import { and, count, eq, gt } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { isoTime, systemClock } from '../core/clock.ts'
import type { Flow } from '../core/flow.ts'
import { tables } from '../storage/catalogue-change.ts'
import { events, stepReports } from '../storage/schema.ts'
import { makeDirectory, takenUp, withData } from './data.ts'
import { DemoClient } from './demo/client.ts'
import { demoFacts } from './demo/facts.ts'
import { dayMs, historyOfDay } from './demo/history.ts'
import { sendPresent } from './demo/present.ts'
import { historyDays, sendHistory } from './demo/send.ts'
import { setUpDemo } from './demo/setup.ts'
import { examples } from './examples.ts'
import { print } from './output.ts'
import { addSettings, serverSettingsOf } from './settings.ts'

const demoData = './cairn-demo-data'
const tokenSeconds = 12 * 3_600
/** How many ports after the usual one are tried where none was asked for. */
const otherPorts = 19
/** Reports of the present are sent again once the last ones are this old. */
const presentMs = 6 * 3_600_000

export function addDemo(cairn: Command): void {
  addSettings(cairn.command('demo'))
    .description('serve an example organisation with three flows and a month of history')
    .addHelpText(
      'after',
      examples('cairn demo', 'cairn demo --port 9000', 'cairn demo --data /tmp/harbor'),
    )
    .action(async (_options, command: Command) => {
      const config = demoConfig(command)
      makeDirectory(config.data)
      const { serve } = await import('../server/serve.ts')
      const running = await serve(config)
      const stopped = running.stopped.then(status => process.exit(status))
      try {
        await Promise.race([stopped, fill(config, running)])
      } catch (error) {
        running.stop()
        // A demo that was stopped midway has not failed.
        if (await isStopping(running)) await stopped
        throw error
      }
      await stopped
    })
}
