import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { builtBinary } from '../../scripts/support/binary.ts'
import { finished } from '../../scripts/support/finished.ts'

/** Sample applications that install the packed packages and contain the code of the READMEs. */

const root = join(import.meta.dir, '../..')
const workshop = join(root, 'dist/sdk')

/** Where the programs of installed packages are. */
export const programs = join(workshop, 'node_modules/.bin')
export const deno = join(workshop, 'node_modules/@deno/linux-x64-glibc/deno')

/**
 * Installs what the applications need: third-party packages as locked here, and our packages as they
 * were packed.
 *
 * @returns why the installation failed, or null
 */
export async function installed(): Promise<string | null> {
  await builtBinary()
  await mkdir(workshop, { recursive: true })
  const manifest = await Bun.file(join(import.meta.dir, 'package.json')).json()
  for (const file of await readdir(join(root, 'dist/npm'))) {
    const [, name] = /^cairn-(\w+)-/.exec(file) ?? []
    manifest.dependencies[`@cairn/${name}`] = `file:../npm/${file}`
  }
  // Our packages may have changed under the same version.
  await rm(join(workshop, 'node_modules/@cairn'), { recursive: true, force: true })
  await Bun.write(join(workshop, 'package.json'), JSON.stringify(manifest, null, 2))
  await cp(join(import.meta.dir, 'bun.lock'), join(workshop, 'bun.lock'))
  const install = Bun.spawn([process.execPath, 'install', '--ignore-scripts', '--no-summary'], {
    cwd: workshop,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const { status, stderr } = await finished(install)
  return status === 0 ? null : (stderr.trim().split('\n').at(-1) ?? 'bun install failed')
}

/** The files that a README shows, by the path in their first line. */
async function filesIn(readme: string): Promise<Record<string, string>> {
  const text = await Bun.file(join(root, 'src/sdk', readme, 'README.md')).text()
  const blocks = text.matchAll(/^```\w+\n(?:\/\/|<!--) (\S+?)(?: -->)?\n([\s\S]*?)^```$/gm)
  return Object.fromEntries([...blocks].map(([, path, code]) => [path, code]))
}

/**
 * Prepares an application's folder for a server, with its own files and those of a README.
 *
 * @param texts what replaces the placeholders of the READMEs, by placeholder
 */
export async function application(
  name: string,
  readme: string,
  texts: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = join(workshop, name)
  await rm(folder, { recursive: true, force: true })
  const own = join(import.meta.dir, 'apps', name)
  if (existsSync(own)) await cp(own, folder, { recursive: true })
  for (const [path, code] of Object.entries(await filesIn(readme))) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await Bun.write(join(folder, path), code)
  }
  for (const path of new Bun.Glob('**/*.{ts,tsx,vue,mjs}').scanSync(folder)) {
    let text = await Bun.file(join(folder, path)).text()
    for (const [from, to] of Object.entries(texts)) text = text.replaceAll(from, to)
    await Bun.write(join(folder, path), text)
  }
  return folder
}

/** Runs a program of an installed package to its end; if it fails, its output is the error. */
export async function built(folder: string, ...command: string[]): Promise<void> {
  const [program = '', ...args] = command
  const child = Bun.spawn([process.execPath, '--bun', join(programs, program), ...args], {
    cwd: folder,
    env: { ...process.env, NODE_ENV: modeOf(args), NEXT_TELEMETRY_DISABLED: '1', CI: '1' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const { status, stdout, stderr } = await finished(child)
  if (status !== 0) throw new Error(`${command.join(' ')}: ${stdout}${stderr}`)
}

/** In strict mode React runs everything twice, but only in development builds. */
const modeOf = (args: readonly string[]) =>
  args.includes('development') ? 'development' : 'production'

/** Serves a folder as a static file host does. */
export function served(folder: string): ReturnType<typeof Bun.serve> {
  return Bun.serve({
    hostname: 'localhost',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === '/favicon.ico') return new Response(null, { status: 204 })
      const path = join(folder, pathname.endsWith('/') ? `${pathname}index.html` : pathname)
      const file = Bun.file(path)
      return (await file.exists()) ? new Response(file) : new Response('', { status: 404 })
    },
  })
}
