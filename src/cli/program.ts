import { CommanderError } from 'commander'
import { withEscapes } from '../core/text/unseen.ts'
import { version } from '../core/version.ts'
import { Command } from './command.ts'
import { complain, exitStatus } from './failure.ts'

type Add = (cairn: Command) => void

/** Every command of `cairn`, in the order of its help. A command line loads those that it needs. */
const commands: Record<string, () => Promise<Add>> = {
  serve: async () => (await import('./serve.ts')).addServe,
  demo: async () => (await import('./demo.ts')).addDemo,
  org: async () => (await import('./org.ts')).addOrg,
  key: async () => (await import('./key.ts')).addKey,
  token: async () => (await import('./token.ts')).addToken,
  dashboard: async () => (await import('./dashboard.ts')).addDashboard,
  flows: async () => (await import('./flows.ts')).addFlows,
  audit: async () => (await import('./audit.ts')).addAudit,
  snippet: async () => (await import('./snippet.ts')).addSnippet,
  steps: async () => (await import('./steps.ts')).addSteps,
  explain: async () => (await import('./explain.ts')).addExplain,
  person: async () => (await import('./person.ts')).addPerson,
  rebuild: async () => (await import('./operations.ts')).addRebuild,
  api: async () => (await import('./api.ts')).addApi,
  backup: async () => (await import('./backup.ts')).addBackup,
  restore: async () => (await import('./restore.ts')).addRestore,
  move: async () => (await import('./move.ts')).addMove,
  nodes: async () => (await import('./nodes.ts')).addNodes,
  alerts: async () => (await import('./alerts.ts')).addAlerts,
  'dead-letters': async () => (await import('./dead-letters.ts')).addDeadLetters,
  compact: async () => (await import('./operations.ts')).addCompact,
  healthcheck: async () => (await import('./healthcheck.ts')).addHealthcheck,
  doctor: async () => (await import('./doctor.ts')).addDoctor,
  service: async () => (await import('./service.ts')).addService,
  version: async () => (await import('./help.ts')).addVersion,
  help: async () => (await import('./help.ts')).addHelp,
}

/** The program with all of its commands, or with those of these names alone. */
export async function program(names: readonly string[] = Object.keys(commands)): Promise<Command> {
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
        write(`cairn: ${withEscapes(line)}\n`)
      },
    })
  for (const name of names) (await commands[name]!())(cairn)
  // Cairn's own help command replaces Commander's, which looks no deeper than one level.
  for (const command of [cairn, ...cairn.commands]) command.helpCommand(false)
  if (names.includes('help')) {
    const { topicList } = await import('./help.ts')
    cairn.addHelpText('after', topicList())
  }
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
  const [first = ''] = args
  // Help tells of all commands, and so does the message about one that does not exist.
  const needed = first !== 'help' && Object.hasOwn(commands, first) ? [first] : undefined
  try {
    const cairn = await program(needed)
    await cairn.parseAsync(args, { from: 'user' })
  } catch (error) {
    // Commander has reported what is wrong. Help that nobody asked for means that a command is missing.
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? exitStatus.ok : exitStatus.usage
      return
    }
    const status = complain(error)
    await new Promise<void>(resolve => process.stderr.write('', () => resolve()))
    // Exits explicitly, because what a server has begun would keep the process alive.
    process.exit(status)
  }
}
