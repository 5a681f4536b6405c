/**
 * Unpacks the browser into `unpacked/` beside this file, with fonts and the system libraries that
 * some machines lack. Run by scripts/browser.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
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

// The package's own file names folders of the service that it is made for. Without any font, a
// browser ends itself as soon as it has to draw text.
writeFileSync(
  join(folder, 'fonts/fonts.conf'),
  `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir>${join(folder, 'fonts/cache')}</cachedir>
</fontconfig>
`,
)
