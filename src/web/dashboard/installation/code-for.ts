import { installStub, installTags } from '../../install-code.ts'
import { server } from '../api/base.ts'
import type { Installation } from './state.ts'

/** The ways in which pages can load the snippet. */
export const ways = ['page', 'bundler', 'tags', 'extension'] as const
export type Way = (typeof ways)[number]

/** The address at which pages reach this server. */
export const addressFor = ({ publicUrl }: Installation): string => publicUrl ?? server

export interface Chosen {
  hasLogin: boolean
  isPinned: boolean
}

export function tagFor(installation: Installation, key: string, { hasLogin, isPinned }: Chosen) {
  const tags = installTags(addressFor(installation), key, installation.snippet)
  const { withLogin, public: open } = isPinned ? tags.pinned : tags.newest
  return hasLogin ? withLogin : open
}

export const stub = `<script>${installStub}</script>`

/** Tag managers drop attributes that they do not know, so a script creates the script element. */
export function tagManagerCode(
  installation: Installation,
  key: string,
  { hasLogin, isPinned }: Chosen,
): string {
  const { file, integrity } = installation.snippet
  const lines = [
    `s.src = '${addressFor(installation)}/${isPinned ? file : 'snippet.js'}'`,
    `s.dataset.key = '${key}'`,
    ...(hasLogin ? ["s.dataset.identify = 'wait'"] : []),
    ...(isPinned ? [`s.integrity = '${integrity}'`, "s.crossOrigin = 'anonymous'"] : []),
  ]
  return [
    '<script>',
    '(function () {',
    "  var s = document.createElement('script')",
    '  s.async = true',
    ...lines.map(line => `  ${line}`),
    '  document.head.appendChild(s)',
    '})()',
    '</script>',
  ].join('\n')
}

export const writeCommand = 'cairn snippet write src/vendor'

export function importCode(installation: Installation, key: string, { hasLogin }: Chosen): string {
  const settings = [
    `  baseUrl: '${addressFor(installation)}',`,
    `  key: '${key}',`,
    ...(hasLogin ? ["  identify: 'wait',"] : []),
  ]
  return [
    "import { cairn } from './vendor/cairn.js'",
    '',
    'export const onboarding = cairn({',
    ...settings,
    '})',
  ].join('\n')
}

export const bundleCommand =
  'bun build src/content.ts --format=iife --target=browser --outfile=content.js'

export const manifestCode = `"content_scripts": [
  { "matches": ["https://app.example.com/*"], "js": ["content.js"] }
]`

export const identifyCode = (way: Way): string =>
  `${way === 'page' || way === 'tags' ? 'cairn' : 'onboarding'}.identify('ann', { plan: 'pro' })`

/** What a page's content security policy has to allow. */
export function policyFor(installation: Installation, way: Way): string {
  const { origin } = new URL(addressFor(installation))
  if (way === 'extension') return `img-src ${origin}`
  const script = way === 'bundler' ? [] : [`script-src ${origin};`]
  return [...script, `connect-src ${origin};`, `img-src ${origin}`].join('\n')
}
