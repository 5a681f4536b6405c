import { CommanderError } from 'commander'
import { withEscapes } from '../core/text/unseen.ts'
import { version } from '../core/version.ts'
import { Command } from './command.ts'
import { complain, exitStatus } from './failure.ts'

type Add = (cairn: Command) => void

/** Every command of `cairn`, in the order of its help. A command line loads those that it needs. */
const groups: Record<string, Record<string, () => Promise<Add>>> = {
  'Start here:': {
    demo: async () => (await import('./demo.ts')).addDemo,
    serve: async () => (await import('./serve.ts')).addServe,
    org: async () => (await import('./org.ts')).addOrg,
    key: async () => (await import('./key.ts')).addKey,
    dashboard: async () => (await import('./dashboard.ts')).addDashboard,
  },
  'Flows:': {
    flows: async () => (await import('./flows.ts')).addFlows,
    steps: async () => (await import('./steps.ts')).addSteps,
    explain: async () => (await import('./explain.ts')).addExplain,
    images: async () => (await import('./images.ts')).addImages,
    snippet: async () => (await import('./snippet.ts')).addSnippet,
  },
  'People and programs:': {
    people: async () => (await import('./people.ts')).addPeople,
    segments: async () => (await import('./segments.ts')).addSegments,
    person: async () => (await import('./person.ts')).addPerson,
    members: async () => (await import('./members.ts')).addMembers,
    token: async () => (await import('./token.ts')).addToken,
    audit: async () => (await import('./operations.ts')).addAudit,
    alerts: async () => (await import('./alerts.ts')).addAlerts,
    api: async () => (await import('./api.ts')).addApi,
    mcp: async () => (await import('./mcp.ts')).addMcp,
  },
  'Operation:': {
    doctor: async () => (await import('./doctor.ts')).addDoctor,
    backup: async () => (await import('./backup.ts')).addBackup,
    restore: async () => (await import('./restore.ts')).addRestore,
    service: async () => (await import('./service.ts')).addService,
    healthcheck: async () => (await import('./healthcheck.ts')).addHealthcheck,
    move: async () => (await import('./move.ts')).addMove,
    nodes: async () => (await import('./operations.ts')).addNodes,
    'dead-letters': async () => (await import('./operations.ts')).addDeadLetters,
    rebuild: async () => (await import('./operations.ts')).addRebuild,
    compact: async () => (await import('./operations.ts')).addCompact,
  },
  'This program:': {
    version: async () => (await import('./help.ts')).addVersion,
    help: async () => (await import('./help.ts')).addHelp,
  },
}

const names = Object.values(groups).flatMap(group => Object.keys(group))

/** The program with all of its commands, or with those of these names alone. */
export async function program(wanted: readonly string[] = names): Promise<Command> {
  const cairn = new Command('cairn')
    .description(
      'In-app onboarding from one executable: product tours, checklists and announcements.',
    )
    .version(`cairn ${version}`, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print what a command does, with examples')
    .exitOverride()
    .configureHelp({
      subcommandTerm: command => command.name(),
      // The rest of the sentence, such as exit statuses, is in the command's own help.
      subcommandDescription: command =>
        (command.summary() || command.description()).split(/[;(]/, 1)[0]!.trim(),
    })
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
  for (const [heading, group] of Object.entries(groups)) {
    cairn.commandsGroup(heading)
    for (const [name, load] of Object.entries(group)) {
      if (wanted.includes(name)) (await load())(cairn)
    }
  }
  // Cairn's own help command replaces Commander's, which looks no deeper than one level.
  for (const command of [cairn, ...cairn.commands]) command.helpCommand(false)
  if (wanted.includes('help')) {
    const { topicList } = await import('./help.ts')
    cairn.addHelpText('after', topicList())
  }
  cairn.examples(
    'cairn demo                               a running server with a month of history',
    'cairn org create "Harbor Inc"            an organisation and its snippet key',
    'cairn flows push tour.yaml --publish     a flow that every page shows',
    'cairn help retention                     every command and topic that mentions a word',
  )
  return cairn
}

/** Loading every command takes three times as long, so only help and the message about a wrong command do. */
function neededFor(first: string): readonly string[] | undefined {
  if (['-v', '--version'].includes(first)) return []
  return first !== 'help' && names.includes(first) ? [first] : undefined
}

/** Runs one command line. Exit status: 0 ok, 1 failure, 2 wrong usage or configuration. */
export async function run(args: readonly string[]): Promise<void> {
  // A reader that stops early, as `head` does, is no failure.
  process.stdout.on('error', (error: Error & { code?: string }) => {
    process.exit(error.code === 'EPIPE' ? (process.exitCode ?? exitStatus.ok) : complain(error))
  })
  const [first = ''] = args
  try {
    const cairn = await program(neededFor(first))
    await cairn.parseAsync(args, { from: 'user' })
  } catch (error) {
    // Commander has reported the problem. It prints help with a status above 0 if a command is missing.
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
