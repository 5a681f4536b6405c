/**
 * Packs what JavaScript applications install to use Cairn, from src/sdk: dist/npm/cairn-<name>-<version>.tgz,
 * as `npm pack` names them. Each has its code in one file, its types, README and licence, and depends on
 * nothing but its peers.
 */
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'

const packageNames = ['browser', 'react', 'vue', 'node']

/** What a package's package.json says, as far as the build changes it. */
interface PackageManifest {
  version: string
  main?: string
  peerDependencies?: Record<string, string>
}

/** @returns the packages' names, and their paths below dist */
export async function pack(root: string, version: string) {
  const folder = join(root, 'dist/npm')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const workshop = await mkdtemp(join(root, 'dist/.packages-'))
  try {
    const types = join(workshop, 'types')
    await declare(root, types)
    for (const name of packageNames) {
      const own = join(workshop, name)
      await fill(join(root, 'src/sdk', name), own, version)
      await copyTypes(join(types, 'sdk', name, 'index.d.ts'), own)
      await copyForCommonJs(own)
      await cp(join(root, 'LICENSE'), join(own, 'LICENSE'))
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

/** Writes a package's manifest, README and code into a folder of its own. */
async function fill(source: string, folder: string, version: string): Promise<void> {
  const manifest: PackageManifest = await Bun.file(join(source, 'package.json')).json()
  const { peerDependencies: peers } = manifest
  // Packages of the same version are made for each other.
  const own = peers?.['@cairn/browser'] && { '@cairn/browser': version }
  const stamped = { ...manifest, version, ...(peers && { peerDependencies: { ...peers, ...own } }) }
  await Bun.write(join(folder, 'package.json'), `${JSON.stringify(stamped, null, 2)}\n`)
  await cp(join(source, 'README.md'), join(folder, 'README.md'))
  for (const format of manifest.main ? (['esm', 'cjs'] as const) : (['esm'] as const)) {
    await Bun.build({
      entrypoints: [join(source, 'index.ts')],
      outdir: folder,
      naming: format === 'esm' ? 'index.js' : 'index.cjs',
      format,
      target: 'browser',
      // Applications minify it with the rest. Until then people can read it.
      minify: false,
      // Those of React are hooks.
      banner: source.endsWith('react') ? "'use client'\n" : '',
      external: ['@cairn/browser', 'react', 'vue'],
    })
  }
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

/** Copies the types for `require`, if a package has code for that; those files have other endings. */
async function copyForCommonJs(folder: string): Promise<void> {
  if (!(await Bun.file(join(folder, 'index.cjs')).exists())) return
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
