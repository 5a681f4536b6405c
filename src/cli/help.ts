import { unpacked } from '../core/text/packed.ts'
import { didYouMean } from '../core/text/wording.ts'
import { commit, version } from '../core/version.ts'
import { packedTexts } from '../manual/compile.ts' with { type: 'macro' }
import type { TopicTexts } from '../manual/compile.ts'
import type { Command } from './command.ts'
import { UsageFailure } from './failure.ts'
import { columns, print, printJson } from './output.ts'

const topicTexts = unpacked<TopicTexts>(packedTexts())
const topicNames = Object.keys(topicTexts)

/** The topics of the manual, as the program's own help lists them. */
export const topicList = () => {
  const rows = topicNames.map(name => [name, topicTexts[name]!.title])
  const lines = columns(rows).map(line => `  ${line}`)
  return ['', 'Topics of the manual ("cairn help TOPIC", or /docs in a browser):', ...lines].join(
    '\n',
  )
}

/** The command below `cairn` that a sequence of words names; null if there is none. */
function commandOf(cairn: Command, words: readonly string[]): Command | null {
  let command: Command | undefined = cairn
  for (const word of words) {
    command = command?.commands.find(sub => sub.name() === word) as Command | undefined
  }
  return command ?? null
}

const everyCommand = (above: Command): Command[] =>
  (above.commands as Command[]).flatMap(command => [command, ...everyCommand(command)])

/** Commands and topics that mention a word, a line each. */
function mentions(cairn: Command, word: string): string[] {
  const has = (text: string) => text.toLowerCase().includes(word.toLowerCase())
  const commands = everyCommand(cairn)
    .filter(({ commands }) => commands.length === 0)
    .filter(command => has(`${command.path}\n${command.fullHelp()}`))
    .map(command => [command.path, command.summary() || command.description()])
  const topics = topicNames
    .filter(name => has(topicTexts[name]!.text))
    .map(name => [`cairn help ${name}`, topicTexts[name]!.title])
  return columns([...commands, ...topics].map(([name, about = '']) => [name!, shortened(about)]))
}

/** Fits on a line of a terminal, with the command before it. */
const shortened = (text: string) => (text.length > 46 ? `${text.slice(0, 45)}…` : text)

export function addHelp(cairn: Command): void {
  cairn
    .command('help')
    .description('print the help of a command or a topic of the manual, or search both for a word')
    .argument('[word...]', 'a command, a topic, or a word to search for')
    .examples('cairn help', 'cairn help flows push', 'cairn help deploy', 'cairn help retention')
    .action((words: string[]) => {
      const [word = ''] = words
      const topic = words.length === 1 && Object.hasOwn(topicTexts, word) ? topicTexts[word] : null
      const command = commandOf(cairn, words)
      // If a word is both a command and a topic, both are printed.
      command?.outputHelp()
      if (topic) print(...(command ? [''] : []), topic.text.trimEnd())
      if (command || topic) return
      const found = words.length === 1 ? mentions(cairn, word) : []
      if (found.length > 0) return print(...found)
      const known = [...cairn.commands.map(sub => sub.name()), ...topicNames]
      const near = words.length === 1 ? didYouMean(word, known) : ''
      const hint = near || ': see "cairn help"'
      throw new UsageFailure(`unknown command "${words.join(' ').slice(0, 60)}"${hint}`)
    })
}

export function addVersion(cairn: Command): void {
  cairn
    .command('version')
    .description('print the version, with the commit it was built from')
    .option('--json', 'print {version, commit, bun} as JSON')
    .examples('cairn version', 'cairn version --json')
    .action(({ json }: { json?: boolean }) => {
      if (json) printJson({ version, commit, bun: Bun.version })
      else print(`cairn ${version}`)
    })
}
