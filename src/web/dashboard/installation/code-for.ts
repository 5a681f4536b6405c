import { installStub, installTags } from '../../install-code.ts'
import { server } from '../api/base.ts'
import type { Installation } from './state.ts'

/** The ways in which pages can load the snippet. */
export const ways = [
  ['page', 'HTML'],
  ['react', 'React'],
  ['vue', 'Vue'],
  ['tags', 'Tag manager'],
  ['bundler', 'JavaScript module'],
  ['extension', 'Browser extension'],
] as const
export type Way = (typeof ways)[number][0]

/** The address at which pages reach this server. */
export const addressFor = ({ publicUrl }: Installation): string => publicUrl ?? server

export interface Chosen {
  way: Way
  hasLogin: boolean
  isPinned: boolean
}

/** Lines to put somewhere. */
export interface CodePart {
  name: string
  where: string
  code: string
  /** Not every site needs it. */
  isExtra?: boolean
}

/** Whether the way loads the script by a tag, of which a version can be pinned. */
export const loadsTag = (way: Way): boolean => way === 'page' || way === 'tags'

function tagManagerCode(installation: Installation, key: string, { hasLogin, isPinned }: Chosen) {
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

/** Options of the packages and of the module, which call the address differently. */
const optionsOf = (
  installation: Installation,
  key: string,
  hasLogin: boolean,
  urlName: 'url' | 'baseUrl',
) =>
  [
    `  ${urlName}: '${addressFor(installation)}',`,
    `  key: '${key}',`,
    ...(hasLogin ? ["  identify: 'wait',"] : []),
  ].join('\n')

function packageParts(way: 'react' | 'vue', options: string, hasLogin: boolean): CodePart[] {
  const packages = {
    name: 'Packages',
    where: 'From the files of your Cairn release, or from your own registry.',
    code: `npm install @cairn/browser @cairn/${way}`,
  }
  if (way === 'vue') {
    const code = `import { createCairnPlugin } from '@cairn/vue'\n\napp.use(createCairnPlugin({\n${options}\n}))`
    return [packages, { name: 'Plugin', where: 'Where your application starts.', code }]
  }
  const user = hasLogin ? " user={{ userId: 'USER_ID' }}" : ''
  const code = [
    "import { CairnProvider } from '@cairn/react'",
    '',
    `const options = {\n${options}\n}`,
    '',
    'export const Onboarding = ({ children }) => (',
    `  <CairnProvider options={options}${user}>{children}</CairnProvider>`,
    ')',
  ].join('\n')
  return [packages, { name: 'Provider', where: 'Around your application.', code }]
}

const moduleParts = (options: string): CodePart[] => [
  {
    name: 'Module',
    where: 'Writes cairn.js and its types into your sources. Repeat it after an upgrade.',
    code: 'cairn snippet write src/vendor',
  },
  {
    name: 'Import',
    where: 'Once, where your application starts.',
    code: `import { cairn } from './vendor/cairn.js'\n\nexport const onboarding = cairn({\n${options}\n})`,
  },
]

const extensionParts: CodePart[] = [
  {
    name: 'Bundle',
    where: 'As one classic script, because content scripts are not modules.',
    code: 'bun build src/content.ts --format=iife --target=browser --outfile=content.js',
  },
  {
    name: 'Manifest',
    where: 'With your own pages. If you list allowed origins in Settings, list these too.',
    code: '"content_scripts": [\n  { "matches": ["https://app.example.com/*"], "js": ["content.js"] }\n]',
  },
]

function identifyPart(way: Way): CodePart {
  const object = way === 'bundler' || way === 'extension' ? 'onboarding' : 'cairn'
  return {
    name: 'Identify users',
    where: 'On every page load and after sign-in. Traits such as plan decide who sees a flow.',
    code: `${object}.identify('USER_ID', { plan: 'pro' })`,
  }
}

/** What a page's content security policy has to allow. */
function policyPart(installation: Installation, way: Way): CodePart {
  const { origin } = new URL(addressFor(installation))
  const images = `img-src ${origin}`
  const hasOwnScript = way === 'bundler' || way === 'extension'
  const script = hasOwnScript ? [] : [`script-src ${origin};`]
  const connect = way === 'extension' ? [] : [`connect-src ${origin};`]
  return {
    name: 'Content security policy',
    isExtra: true,
    where:
      'If your pages have one, add these sources. img-src is for images that you upload. Nothing needs unsafe-inline.',
    code: [...script, ...connect, images].join('\n'),
  }
}

/** The tag for the head of every page. */
export function tagFor(installation: Installation, key: string, { hasLogin, isPinned }: Chosen) {
  const tags = installTags(addressFor(installation), key, installation.snippet)
  const { withLogin, public: open } = isPinned ? tags.pinned : tags.newest
  return hasLogin ? withLogin : open
}

function loadingParts(installation: Installation, key: string, chosen: Chosen): CodePart[] {
  const { way, hasLogin } = chosen
  if (way === 'page') {
    const where = 'In the head of every page.'
    return [{ name: 'Tag', where, code: tagFor(installation, key, chosen) }]
  }
  if (way === 'tags') {
    const where = 'A tag of the type “Custom HTML”, on all pages.'
    return [{ name: 'Custom HTML', where, code: tagManagerCode(installation, key, chosen) }]
  }
  if (way === 'react' || way === 'vue') {
    return packageParts(way, optionsOf(installation, key, hasLogin, 'url'), hasLogin)
  }
  const ofModule = moduleParts(optionsOf(installation, key, hasLogin, 'baseUrl'))
  return way === 'bundler' ? ofModule : [...ofModule, ...extensionParts]
}

const stubPart: CodePart = {
  name: 'Calls before the script loads',
  isExtra: true,
  where:
    'Optional, before the tag: keeps early calls of cairn.identify() and others. With a strict policy, put it into a file.',
  code: `<script>${installStub}</script>`,
}

/** Everything that has to be put somewhere, in order. */
export function codeParts(installation: Installation, key: string, chosen: Chosen): CodePart[] {
  const { way, hasLogin } = chosen
  return [
    ...loadingParts(installation, key, chosen),
    ...(hasLogin && way !== 'react' ? [identifyPart(way)] : []),
    policyPart(installation, way),
    ...(way === 'page' ? [stubPart] : []),
  ]
}
