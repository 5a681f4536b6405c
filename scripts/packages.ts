/**
 * Packs what JavaScript applications install to use Cairn, from src/sdk: dist/npm/cairn-<name>-<version>.tgz,
 * as `npm pack` names them. Each has its code in one file, its types, README and licence, and depends on
 * nothing but its peers.
 */
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'

const packageNames = ['browser', 'react', 'vue', 'node'] as const
type PackageName = (typeof packageNames)[number]

/** What a package's package.json says, as far as the build changes it. */
interface PackageManifest {
  version: string
  main?: string
  peerDependencies?: Record<string, string>
}

/** @returns the packages' names, and their paths below dist */
export async function pack(
  root: string,
  version: string,
): Promise<{ name: string; file: string }[]> {
  const folder = join(root, 'dist/npm')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const workshop = await mkdtemp(join(root, 'dist/.packages-'))
  try {
    const types = join(workshop, 'types')
    await declare(root, types)
    for (const name of packageNames) {
      const own = join(workshop, name)
      await fill(root, name, own, types, version)
      await run([process.execPath, 'pm', 'pack', '--destination', folder, '--quiet'], own)
    }
  } finally {
    await rm(workshop, { recursive: true, force: true })
  }
  return packageNames.map(name => ({
    name: `@cairn/${name}`,
    file: `npm/cairn-${name}-${version}.tgz`,
  }))
}

/** Writes everything that a package holds into a folder of its own. */
async function fill(
  root: string,
  name: PackageName,
  folder: string,
  types: string,
  version: string,
): Promise<void> {
  const source = join(root, 'src/sdk', name)
  const manifest: PackageManifest = await Bun.file(join(source, 'package.json')).json()
  const { peerDependencies: peers } = manifest
  const stamped = {
    ...manifest,
    version,
    ...(peers && {
      // Packages of the same version are made for each other.
      peerDependencies: { ...peers, ...(peers['@cairn/browser'] && { '@cairn/browser': version }) },
    }),
  }
  await Bun.write(join(folder, 'package.json'), `${JSON.stringify(stamped, null, 2)}\n`)
  await cp(join(source, 'README.md'), join(folder, 'README.md'))
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  const entry = join(source, 'index.ts')
  const hasHooks = name === 'react'
  await bundle(entry, folder, 'esm', 'index.js', hasHooks ? "'use client'\n" : '')
  if (manifest.main) await bundle(entry, folder, 'cjs', 'index.cjs')
  await copyTypes(join(types, 'sdk', name, 'index.d.ts'), folder)
  if (manifest.main) await copyForCommonJs(folder)
}

async function bundle(
  entry: string,
  outdir: string,
  format: 'esm' | 'cjs',
  naming: string,
  banner = '',
): Promise<void> {
  await Bun.build({
    entrypoints: [entry],
    outdir,
    naming,
    format,
    target: 'browser',
    // Applications minify it with the rest. Until then people can read it.
    minify: false,
    banner,
    external: ['@cairn/browser', 'react', 'vue'],
  })
}

async function declare(root: string, outDir: string): Promise<void> {
  const tsc = join(root, 'node_modules/.bin/tsc')
  const how = ['--declaration', '--emitDeclarationOnly', '--noEmit', 'false']
  const where = ['--rootDir', join(root, 'src'), '--outDir', outDir]
  await run([process.execPath, '--bun', tsc, '-p', join(root, 'src/sdk'), ...how, ...where], root)
}

/** Copies a file of types and those that it imports, side by side. */
async function copyTypes(path: string, folder: string): Promise<void> {
  const text = await Bun.file(path).text()
  const found: string[] = []
  const flat = text.replace(/(['"])(\.[^'"]+)\.ts\1/g, (_, quote: string, to: string) => {
    found.push(join(path, '..', `${to}.d.ts`))
    return `${quote}./${basename(to)}.js${quote}`
  })
  await Bun.write(join(folder, basename(path)), flat)
  for (const other of found) {
    if (!(await Bun.file(join(folder, basename(other))).exists())) await copyTypes(other, folder)
  }
}

/** Copies the types for `require`, whose files have other endings. */
async function copyForCommonJs(folder: string): Promise<void> {
  for (const file of (await readdir(folder)).filter(name => name.endsWith('.d.ts'))) {
    const text = await Bun.file(join(folder, file)).text()
    const name = file.replace(/ts$/, 'cts')
    await Bun.write(join(folder, name), text.replace(/(['"]\.\/[^'"]+)\.js(['"])/g, '$1.cjs$2'))
  }
}

async function run(command: string[], cwd: string): Promise<void> {
  const env = { ...process.env, BUN_BE_BUN: '1' }
  const { success, stdout, stderr } = Bun.spawnSync(command, { cwd, env })
  if (!success) throw new Error(`${command.slice(0, 4).join(' ')} failed\n${stdout}${stderr}`)
}
