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
    about: 'print the current key, older keys that are valid, and the tags for pages',
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
    about: 'create a new key; the old one stays valid for the grace period',
    settings: ['keyGraceHours'],
    options: [option('--now', 'revoke older keys at once')],
    async run({ ask, id, organisation: slug }, { now, keyGraceHours }) {
      const body = { graceHours: now ? 0 : keyGraceHours }
      return { id, slug, ...(await ask<RotatedKey>('POST /keys/rotate', { body })) }
    },
    show: ({ snippetKey, previousUntil }, { now }) =>
      print(
        snippetKey,
        now ? 'Revoked the old key.' : `The old key is valid until ${previousUntil}.`,
      ),
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
    snippetKey ?? 'No current key. Create one with "cairn key rotate".',
    ...previous.map(old => `${old.key}  valid until ${old.worksUntil}`),
  )
  if (snippetKey === null) return
  const { installStub, installTags } = await import('../web/install-code.ts')
  const base = publicUrl ?? url ?? exampleUrl
  const { newest, pinned } = installTags(base.replace(/\/+$/, ''), snippetKey, snippet)
  print(
    '',
    'For an application with a login, which calls cairn.identify():',
    `  ${newest.withLogin}`,
    '',
    'For a public site without a login:',
    `  ${newest.public}`,
    '',
    'Both load the newest snippet. To pin this version, with a login:',
    `  ${pinned.withLogin}`,
    'and without one:',
    `  ${pinned.public}`,
    '',
    'Before the tag, if pages call cairn.identify() before the script loads (under a strict content',
    "security policy with the page's nonce, or from a file of yours):",
    `  <script>${installStub}</script>`,
    '',
    'For an application built with npm: @cairn/browser, see "cairn help sdk"',
  )
  if (base === exampleUrl) print('', 'Set the address of your server with --public-url.')
}
