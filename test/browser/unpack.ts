/**
 * Unpacks the browser into `unpacked/` beside this file, with fonts and the system libraries that
 * some machines lack. Run by scripts/browser.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { folder } from './program.ts'

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })

// The package unpacks into the folder for temporary files, which it asks for as it is called.
process.env.TMPDIR = folder
const { default: chromium, inflate } = await import('@sparticuz/chromium')
const packed = join(import.meta.dir, 'node_modules/@sparticuz/chromium/bin')
await chromium.executablePath(packed)
await inflate(join(packed, 'al2023.tar.br'))
