import type { KeyList, RotatedKey } from '../modules/organisations/model.ts'
import type { Command, Flags } from './command.ts'
import { addressGiven, exampleUrl, withoutSlash } from './elsewhere.ts'
import { addManaged, addOrgOption, managed, managedHere } from './manage.ts'
import { print, printJson } from './output.ts'
import { settingsOf } from './settings.ts'

export function addKey(cairn: Command): void {
  const key = cairn
    .command('key')
    .description('the snippet key of an organisation')
    .examples('cairn key show --org harbor', 'cairn key rotate --org harbor')
  addShow(key)
  addRotate(key)
}

function addShow(key: Command): void {
  addOrgOption(key.command('show'))
    .description('print the current key, older keys that still work, and the tags for pages')
    .option('--url <url>', 'address of this server for pages, used in the tags', exampleUrl)
    .option('--json', 'print {id, slug, snippetKey, previous, snippet: {file, integrity}} as JSON')
    .examples(
      'cairn key show',
      'cairn key show --url https://cairn.example.com',
      'cairn key show --org harbor --json',
    )
    .action(async (options: { url: string; json?: boolean }, command: Command) => {
      const baseUrl = withoutSlash(addressGiven(options.url))
      // Loaded here, so that no other command loads the snippet.
      const { installStub, installTags } = await import('../web/install-code.ts')
      const { pinnedSnippet } = await import('../web/snippet-files.ts')
      // Its --url is the address that pages are given, so it asks only on this machine.
      await managedHere(command, async ({ ask, id, organisation: slug }) => {
        const { keys } = await ask<typeof KeyList>('GET /keys')
        const [current, ...older] = keys
        if (options.json) {
          return printJson({
            id,
            slug,
            snippetKey: current?.key ?? null,
            previous: older.map(({ key, worksUntil }) => ({ key, worksUntil })),
            snippet: pinnedSnippet,
          })
        }
        print(
          current?.key ?? 'no current key: make one with "cairn key rotate"',
          ...older.map(old => `${old.key}  works until ${old.worksUntil}`),
        )
        if (!current) return
        const { newest, pinned } = installTags(baseUrl, current.key, pinnedSnippet)
        print(
          '',
          'On every page of an application with a login, which calls cairn.identify():',
          `  ${newest.withLogin}`,
          '',
          'On a public site, where nobody signs in:',
          `  ${newest.public}`,
          '',
          'Both always load the newest snippet. To pin this version, verified by the browser, with a login:',
          `  ${pinned.withLogin}`,
          'and without one:',
          `  ${pinned.public}`,
          '',
          'Before it, where pages call cairn.identify() and the like before the script has come (a strict',
          "policy allows it with the page's nonce, or from a file of your own):",
          `  <script>${installStub}</script>`,
        )
        print('', 'In an application built with npm: @cairn/browser, see "cairn help sdk"')
        if (options.url === exampleUrl) print('', "Put your server's own address in: --url")
      })
    })
}

function addRotate(key: Command): void {
  addManaged(key.command('rotate'), 'keyGraceHours')
    .description('make a new key; the one before still works for the grace time')
    .option('--now', 'refuse all older keys at once, for instance if one is misused')
    .option('--json', 'print {id, slug, snippetKey, previousUntil} as JSON')
    .examples('cairn key rotate --org harbor', 'cairn key rotate --org harbor --now')
    .action(async (options: Flags<never, 'now' | 'json'>, command: Command) => {
      const { keyGraceHours } = settingsOf(command, 'keyGraceHours')
      const graceHours = options.now ? 0 : keyGraceHours
      await managed(command, async ({ ask, id, organisation: slug }) => {
        const body = { graceHours }
        const { snippetKey, previousUntil } = await ask<typeof RotatedKey>('POST /keys/rotate', {
          body,
        })
        if (options.json) return printJson({ id, slug, snippetKey, previousUntil })
        const state = graceHours === 0 ? 'no longer works' : `works until ${previousUntil}`
        print(snippetKey, `the old key ${state}`)
      })
    })
}
