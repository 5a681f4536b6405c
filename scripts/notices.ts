/**
 * The notices that the licences of what is in the executable ask for: of the packages that it is made of, as they
 * are installed, and of Bun. The same lock gives the same text.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { closureOf, folderOf, type Lock, type Manifest } from './sbom.ts'

interface Package {
  name: string
  version: string
  license?: string
  author?: string | { name?: string }
}

/** The notices, as text. */
export async function noticesOf(root: string, manifest: Manifest, lock: Lock): Promise<string> {
  const sections = [bunNotice(manifest.devDependencies.bun)]
  for (const key of closureOf(manifest, lock)) sections.push(await noticeOf(folderOf(root, key)))
  const intro = `Cairn is under the licence in LICENSE. Its executable contains what follows.\n`
  return [intro, ...sections].join(`\n${'-'.repeat(80)}\n\n`)
}

async function noticeOf(folder: string): Promise<string> {
  const { name, version, license, author }: Package = await Bun.file(
    join(folder, 'package.json'),
  ).json()
  const files = readdirSync(folder).filter(file => /^(licen[cs]e|notice|copying)\b/i.test(file))
  const texts = await Promise.all(files.sort().map(file => Bun.file(join(folder, file)).text()))
  if (texts.length === 0) texts.push(await inReadme(folder))
  const by = typeof author === 'string' ? author : author?.name
  const head = [`${name} ${version}`, license, by && `by ${by}`].filter(Boolean).join(', ')
  return [head, ...texts.map(text => text.trim()).filter(Boolean)].join('\n\n').concat('\n')
}

/** What a package's README says of its licence; nothing in most that have no file for it. */
async function inReadme(folder: string): Promise<string> {
  const file = Bun.file(join(folder, 'README.md'))
  const sections = (await file.exists()) ? (await file.text()).split(/^#+ +/m) : []
  return sections.find(section => /^licen[cs]e\b/i.test(section)) ?? ''
}

/** As Bun's own LICENSE.md lists them, which no package of Bun contains. */
const linkedByBun: Record<string, string> = {
  'JavaScriptCore and WebKit': 'LGPL-2.0',
  SQLite: 'public domain',
  BoringSSL: 'several, see its LICENSE',
  brotli: 'MIT',
  libarchive: 'several, see its COPYING',
  'lol-html': 'BSD-3-Clause',
  'ls-hpack, ls-qpack, lsquic': 'MIT',
  mimalloc: 'MIT',
  picohttpparser: 'MIT',
  zstd: 'BSD-3-Clause',
  simdutf: 'Apache-2.0',
  tinycc: 'LGPL-2.1',
  'uSockets, uWebSockets': 'Apache-2.0',
  'zlib-ng': 'Zlib',
  'c-ares': 'MIT',
  ICU: 'Unicode-3.0',
  libbase64: 'BSD-2-Clause',
  libdeflate: 'MIT',
  'libjpeg-turbo': 'BSD-3-Clause, IJG, Zlib',
  libspng: 'BSD-2-Clause',
  libwebp: 'BSD-3-Clause',
  highway: 'Apache-2.0',
  uucode: 'MIT',
  'parts of TigerBeetle': 'Apache-2.0',
  'parts of libc++abi': 'Apache-2.0 WITH LLVM-exception',
  'a port of esbuild': 'MIT',
  'polyfills of Node.js modules': 'MIT',
}

function bunNotice(version: string): string {
  const rows = Object.entries(linkedByBun).map(([name, license]) => `  ${name}: ${license}`)
  const at = `https://github.com/oven-sh/bun/blob/bun-v${version}/LICENSE.md`
  return `bun ${version}, MIT, by Oven

Bun, the runtime, contains:

${rows.join('\n')}

Their sources, the texts of their licences, and how to link Bun with a changed JavaScriptCore:
${at}
`
}
