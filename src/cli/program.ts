import { CommanderError } from 'commander'
import { withEscapes } from '../core/text/unseen.ts'
import { version } from '../core/version.ts'
import { addAlerts } from './alerts.ts'
import { addAudit } from './audit.ts'
import { addBackup } from './backup.ts'
import { Command } from './command.ts'
import { addDashboard } from './dashboard.ts'
import { addDeadLetters } from './dead-letters.ts'
import { addDemo } from './demo.ts'
import { addDoctor } from './doctor.ts'
import { addExplain } from './explain.ts'
import { complain, exitStatus } from './failure.ts'
import { addFlows } from './flows.ts'
import { addHealthcheck } from './healthcheck.ts'
import { addHelp, addVersion, topicList } from './help.ts'
import { addKey } from './key.ts'
import { addMigrate } from './migrate.ts'
import { addMove } from './move.ts'
import { addNodes } from './nodes.ts'
import { addCompact, addRebuild } from './operations.ts'
import { addOrg } from './org.ts'
import { addPerson } from './person.ts'
import { addRestore } from './restore.ts'
import { addServe } from './serve.ts'
import { addService } from './service.ts'
import { addSnippet } from './snippet.ts'
import { addSteps } from './steps.ts'
import { addToken } from './token.ts'

/** Every command of `cairn`. */
export function program(): Command {
  const cairn = new Command('cairn')
    .description(
      'In-app onboarding from one executable: product tours, checklists and announcements.',
    )
    .version(`cairn ${version}`, '--version', 'print the version')
    .helpOption('--help', 'print what a command does, with examples')
    .exitOverride()
    .configureOutput({
      // Commander's own errors in Cairn's form: one line, with its suggestion, and where to look.
      outputError: (message, write) => {
        const line = message
          .replace(/^error: /, '')
          .trim()
          .replaceAll('\n', ' ')
        write(`cairn: ${withEscapes(line)} (see --help)\n`)
      },
    })
  addServe(cairn)
  addDemo(cairn)
  addOrg(cairn)
  addKey(cairn)
  addToken(cairn)
  addDashboard(cairn)
  addFlows(cairn)
  addAudit(cairn)
  addSnippet(cairn)
  addSteps(cairn)
  addExplain(cairn)
  addPerson(cairn)
  addRebuild(cairn)
  addMigrate(cairn)
  addBackup(cairn)
  addRestore(cairn)
  addMove(cairn)
  addNodes(cairn)
  addAlerts(cairn)
  addDeadLetters(cairn)
  addCompact(cairn)
  addHealthcheck(cairn)
  addDoctor(cairn)
  addService(cairn)
  addVersion(cairn)
  addHelp(cairn)
  // Cairn's own help command replaces Commander's, which looks no deeper than one level.
  for (const command of [cairn, ...cairn.commands]) command.helpCommand(false)
  cairn.addHelpText('after', topicList())
  cairn.examples(
    'cairn demo                               a running server with a month of history',
    'cairn org create "Harbor Inc"            an organisation and its snippet key',
    'cairn flows push tour.yaml --org harbor-inc',
    'cairn serve --data /var/lib/cairn',
  )
  return cairn
}

/** Runs one command line. Exit status: 0 ok, 1 failure, 2 wrong usage or configuration. */
export async function run(args: readonly string[]): Promise<void> {
  // A reader that stops early, as `head` does, is no failure.
  process.stdout.on('error', (error: Error & { code?: string }) => {
    process.exit(error.code === 'EPIPE' ? (process.exitCode ?? exitStatus.ok) : complain(error))
  })
  try {
    await program().parseAsync(args, { from: 'user' })
  } catch (error) {
    // Commander has reported what is wrong. Help that nobody asked for means that a command is missing.
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? exitStatus.ok : exitStatus.usage
      return
    }
    const status = complain(error)
    await new Promise<void>(resolve => process.stderr.write('', () => resolve()))
    // Exits explicitly, because threads of a server that could not go on would keep the process alive.
    process.exit(status)
  }
}
