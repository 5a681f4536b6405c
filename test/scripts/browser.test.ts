import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { firstThatWorks } from '../browser/choose.ts'
import { installedBrowsers } from '../browser/installed.ts'
import { bundledProgram, program } from '../browser/program.ts'
import { tryOut } from '../browser/try-out.ts'

/** Which browser the tests use, and that one that is unsuitable is reported and passed over. */

const folder = mkdtempSync(join(tmpdir(), 'cairn-browsers-'))
afterAll(() => rmSync(folder, { recursive: true }))

let made = 0

/** A program of a few lines that stands for a browser. */
function standIn(script: string) {
  const executablePath = join(folder, `browser-${++made}`)
  writeFileSync(executablePath, script)
  chmodSync(executablePath, 0o755)
  return { executablePath, env: {} }
}

/** Speaks enough of Chrome's protocol to tell a version. */
const ofVersion = (version: string) =>
  standIn(`#!${process.execPath}
const { createReadStream, createWriteStream } = require('node:fs')
const answers = createWriteStream('', { fd: 4 })
let rest = ''
createReadStream('', { fd: 3 }).on('data', data => {
  const messages = (rest + data).split('\\0')
  rest = messages.pop()
  for (const { id, method } of messages.map(message => JSON.parse(message))) {
    if (method === 'Browser.close') process.exit()
    const result = { protocolVersion: '1.3', product: 'Chrome/${version}', userAgent: '' }
    answers.write(JSON.stringify({ id, result }) + '\\0')
  }
})
`)

describe('an installed browser is found', () => {
  const machineWith = (...files: string[]) => {
    const root = mkdtempSync(join(folder, 'machine-'))
    for (const file of files) {
      mkdirSync(join(root, dirname(file)), { recursive: true })
      writeFileSync(join(root, file), '')
    }
    return root
  }
  const foundIn = (root: string, path = '/usr/bin:/bin') =>
    installedBrowsers(path, '/home/ann', root).map(file => file.slice(root.length))

  test.each([
    ['Debian’s Chromium', '/usr/bin/chromium'],
    ['Chrome from Google’s package', '/usr/bin/google-chrome-stable'],
    ['Ubuntu’s snap', '/snap/bin/chromium'],
    ['Chrome on macOS', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'],
  ])('%s', (_what, file) => {
    expect(foundIn(machineWith(file))).toEqual([file])
  })

  test('anywhere on the PATH', () => {
    const root = machineWith('/nix/store/bin/chromium')
    expect(foundIn(root)).toEqual([])
    expect(foundIn(root, '/usr/bin:/nix/store/bin')).toEqual(['/nix/store/bin/chromium'])
  })

  test('Chrome before Chromium before Edge, and a link to one of them not a second time', () => {
    const chrome = '/usr/bin/google-chrome-stable'
    const root = machineWith('/usr/bin/microsoft-edge', '/usr/bin/chromium', chrome)
    symlinkSync(join(root, chrome), join(root, 'usr/bin/google-chrome'))
    expect(foundIn(root)).toEqual([chrome, '/usr/bin/chromium', '/usr/bin/microsoft-edge'])
  })

  test('nothing where there is none', () => {
    expect(foundIn(machineWith('/usr/bin/firefox'))).toEqual([])
  })
})

describe.skipIf(!program)('a browser is tried before tests run in it', () => {
  test('the first that works is taken, and each that was tried is reported', async () => {
    const told: string[] = []
    const old = ofVersion('90.0.4430.212')
    const silent = standIn('#!/bin/sh\nexit 1\n')
    const taken = await firstThatWorks([old, silent, program!], line => told.push(line))
    expect(taken).toEqual(program)
    expect(told).toEqual([
      `tests cannot run in ${old.executablePath} (90.0.4430.212): the snippet needs version 122`,
      expect.stringContaining(`tests cannot run in ${silent.executablePath}: it does not start: `),
      expect.stringContaining(`tests in a browser run in ${program!.executablePath} (`),
    ])
    expect(await firstThatWorks([silent], () => {})).toBeNull()
  })
})

describe.skipIf(!bundledProgram())('the bundled browser', () => {
  test('without a font is refused, because text cannot be entered in it', async () => {
    const fonts = join(folder, 'fonts.conf')
    writeFileSync(fonts, '<?xml version="1.0"?>\n<fontconfig></fontconfig>\n')
    const { executablePath, env } = bundledProgram()!
    const { fault } = await tryOut({ executablePath, env: { ...env, FONTCONFIG_FILE: fonts } })
    expect(fault).toStartWith('text cannot be entered in it: ')
  })

  test('has fonts and libraries of its own', async () => {
    expect((await tryOut(bundledProgram()!)).fault).toBeNull()
  })
})
