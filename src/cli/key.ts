import type { Command } from 'commander'
import { isoTime, isoTimeOrNull } from '../core/clock.ts'
import { shown } from '../core/wording.ts'
import { keysOf, rotateKey } from '../storage/organisations.ts'
import { changeData, organisationNamed, withData } from './data.ts'
import { examples } from './examples.ts'
import { UsageFailure } from './failure.ts'
import { print, printJson } from './output.ts'
import { addSettings, settingsOf } from './settings.ts'

const hourMs = 3_600_000

export function addKey(cairn: Command): void {
  const key = cairn
    .command('key')
    .description("an organisation's snippet key")
    .addHelpText('after', examples('cairn key show --org harbor', 'cairn key rotate --org harbor'))
  addShow(key)
  addRotate(key)
}

interface ShowOptions {
  org?: string
  url: string
  json?: boolean
}

const exampleUrl = 'https://cairn.example.com'

/** @throws UsageFailure where it is no address that a page could load a script from */
function baseUrlOf(text: string): string {
  const url = URL.parse(text)
  // Browsers load nothing from an address that holds a password.
  const more = url && url.username + url.password + url.search + url.hash
  if (url && /^https?:$/.test(url.protocol) && more === '') return url.href.replace(/\/+$/, '')
  throw new UsageFailure(`--url must be an address such as ${exampleUrl}, not '${shown(text)}'`)
}

function addShow(key: Command): void {
  addSettings(key.command('show'), ['data'])
    .description('print the current key, older ones that still work, and the tags that pages need')
    .option('--org <org>', 'id or slug; may be left out where there is only one')
    .option('--url <url>', 'where pages reach this server, for the tags', exampleUrl)
    .option('--json', 'print {id, slug, snippetKey, previous, snippet: {file, integrity}} as JSON')
    .addHelpText(
      'after',
      examples(
        'cairn key show',
        'cairn key show --url https://cairn.example.com',
        'cairn key show --org harbor --json',
      ),
    )
    .action(async (options: ShowOptions, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const baseUrl = baseUrlOf(options.url)
      // Loaded here, so that no other command holds the snippet.
      const { installStub, installTags, pinnedSnippet } = await import('../web/install-code.ts')
      await withData(data, database => {
        const { row, id, slug } = organisationNamed(database, options.org)
        const [current, ...older] = keysOf(database, row, Date.now())
        if (options.json) {
          const previous = older.map(old => ({
            key: old.key,
            worksUntil: isoTimeOrNull(old.retiredAt),
          }))
          return printJson({
            id,
            slug,
            snippetKey: current?.key ?? null,
            previous,
            snippet: pinnedSnippet,
          })
        }
        print(
          current?.key ?? 'no current key: make one, "cairn key rotate"',
          ...older.map(old => `${old.key}  works until ${isoTimeOrNull(old.retiredAt)}`),
        )
        if (!current) return
        const { newest, pinned } = installTags(baseUrl, current.key)
        print(
          '',
          'On every page, always the newest snippet:',
          `  ${newest}`,
          '',
          'or this version alone, which the browser verifies:',
          `  ${pinned}`,
          '',
          'Before it, where pages call cairn.identify() and the like before the script has come (a strict',
          "policy takes it with the page's nonce, or out of a file of your own):",
          `  <script>${installStub}</script>`,
        )
        if (options.url === exampleUrl) print('', "Put your server's own address in: --url")
      })
    })
}

function addRotate(key: Command): void {
  addSettings(key.command('rotate'), ['data', 'keyGraceHours'])
    .description('make a new key; the one before still works for the grace time')
    .option('--org <org>', 'id or slug; may be left out where there is only one')
    .option('--now', 'refuse every older key at once, as for a key that is misused')
    .option('--json', 'print {id, slug, snippetKey, previousUntil} as JSON')
    .addHelpText(
      'after',
      examples('cairn key rotate --org harbor', 'cairn key rotate --org harbor --now'),
    )
    .action(async (options: { org?: string; now?: boolean; json?: boolean }, command: Command) => {
      const { data, keyGraceHours } = settingsOf(command, 'data', 'keyGraceHours')
      const graceMs = options.now ? 0 : keyGraceHours * hourMs
      const result = await changeData(data, database => {
        const { row, id, slug } = organisationNamed(database, options.org)
        return { id, slug, ...rotateKey(database, row, { now: Date.now(), graceMs }) }
      })
      const { id, slug, snippetKey } = result
      const previousUntil = isoTime(result.previousUntil)
      if (options.json) return printJson({ id, slug, snippetKey, previousUntil })
      const fate = graceMs === 0 ? 'no longer works' : `works until ${previousUntil}`
      print(snippetKey, `the key before ${fate}`)
    })
}
