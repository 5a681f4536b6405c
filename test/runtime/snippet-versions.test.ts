import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keepSnippet, keptSnippetFile, shareSnippet } from '../../src/runtime/snippet-versions.ts'
import { snippetFiles } from '../../src/web/snippet-files.ts'

let data = ''
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'cairn-snippet-'))
})
afterEach(() => rmSync(data, { recursive: true }))

const names = snippetFiles.map(({ name }) => name).sort()

test('a start leaves the files of this release, and nothing else', async () => {
  keepSnippet(data)
  expect(readdirSync(join(data, 'snippet')).sort()).toEqual(names)
  for (const { name, text } of snippetFiles)
    expect(await keptSnippetFile(data, () => null, name)).toBe(text)
})

test('a file that was cut off midway is whole after the next start', () => {
  const { name, text } = snippetFiles[0]!
  const path = join(data, 'snippet', name)
  mkdirSync(join(data, 'snippet'))
  writeFileSync(path, text.slice(0, 4_096))
  keepSnippet(data)
  expect(readFileSync(path, 'utf8')).toBe(text)
  expect(readdirSync(join(data, 'snippet')).sort()).toEqual(names)
})

test('files of older releases stay, and no other file is ever read', async () => {
  const older = 'snippet-0123456789abcdef.js'
  mkdirSync(join(data, 'snippet'))
  for (const name of [older, 'other.js', 'snippet-x.js']) {
    writeFileSync(join(data, 'snippet', name), 'older()')
  }
  keepSnippet(data)
  expect(await keptSnippetFile(data, () => null, older)).toBe('older()')
  for (const name of ['other.js', 'snippet-x.js', `../snippet/${older}`, `${older}/`]) {
    expect(await keptSnippetFile(data, () => null, name)).toBeNull()
  }
})

test('a file that only another machine has is found among those that all share', async () => {
  const shared = new Map<string, string>()
  await shareSnippet(async (name, text) => {
    shared.set(name, text)
    return text
  })
  const sharedFile = (name: string) => shared.get(name) ?? null
  const { name, text } = snippetFiles[0]!
  expect(await keptSnippetFile(data, sharedFile, name)).toBe(text)
  expect(await keptSnippetFile(data, sharedFile, 'snippet-0123456789abcdef.js')).toBeNull()
  shared.set('snippet/other.js', 'other()')
  expect(await keptSnippetFile(data, sharedFile, 'other.js')).toBeNull()
})
