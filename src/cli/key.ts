import type { KeyList, RotatedKey } from '../modules/organisations/schema.ts'
import type { Command } from './command.ts'
import { exampleUrl } from './elsewhere.ts'
import { print } from './output.ts'
import { addGroup, option, type Row, row } from './table.ts'

interface Shown {
  snippetKey: string | null
  previous: { key: string; worksUntil: string | null }[]
  snippet: { file: string; integrity: string }
}

const rows: Row[] = [
  row<Shown>({
    name: 'show',
    about: 'print the current key, older keys that still work, and the tags for pages',
    settings: ['publicUrl'],
    async run({ ask, id, organisation: slug }) {
      // Loaded here, so that no other command loads the snippet.
      const { pinnedSnippet: snippet } = await import('../web/snippet-files.ts')
      const { keys } = await ask<KeyList>('GET /keys')
      const current = keys.find(({ worksUntil }) => worksUntil === null)
      const previous = keys
        .filter(one => one !== current)
        .map(({ key, worksUntil }) => ({ key, worksUntil }))
      return { id, slug, snippetKey: current?.key ?? null, previous, snippet }
    },
    show: printKeys,
    examples: ['cairn key show', 'cairn key show --public-url https://cairn.example.com'],
  }),
  row<RotatedKey & { id: string; slug: string }>({
    name: 'rotate',
    about: 'make a new key; the old one still works for the grace time',
    settings: ['keyGraceHours'],
    options: [option('--now', 'reject all older keys at once, for instance if one is misused')],
    async run({ ask, id, organisation: slug }, { now, keyGraceHours }) {
      const body = { graceHours: now ? 0 : keyGraceHours }
      return { id, slug, ...(await ask<RotatedKey>('POST /keys/rotate', { body })) }
    },
    show: ({ snippetKey, previousUntil }, { now }) =>
      print(snippetKey, `the old key ${now ? 'no longer works' : `works until ${previousUntil}`}`),
    examples: ['cairn key rotate', 'cairn key rotate --now'],
  }),
]

export function addKey(cairn: Command): void {
  addGroup(
    cairn,
    {
      name: 'key',
      about: 'the snippet key of an organisation, and the tag for pages',
      examples: ['cairn key show', 'cairn key rotate'],
    },
    rows,
  )
}

async function printKeys(
  { snippetKey, previous, snippet }: Shown,
  { publicUrl, url }: { publicUrl: string | null; url?: string },
): Promise<void> {
  print(
    snippetKey ?? 'no current key: make one with "cairn key rotate"',
    ...previous.map(old => `${old.key}  works until ${old.worksUntil}`),
  )
  if (snippetKey === null) return
  const { installStub, installTags } = await import('../web/install-code.ts')
  const base = publicUrl ?? url ?? exampleUrl
  const { newest, pinned } = installTags(base.replace(/\/+$/, ''), snippetKey, snippet)
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
    '',
    'In an application built with npm: @cairn/browser, see "cairn help sdk"',
  )
  if (base === exampleUrl) print('', "Put your server's own address in: --public-url")
}
