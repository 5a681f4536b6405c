/**
 * Builds Cairn into one executable: dist/cairn for this machine, or dist/cairn-<target> for each
 * `--target` (repeatable; `all` for all of them). Another target needs Bun's own program for it,
 * which comes from npm's registry and is checked against the integrity in bun.lock.
 *
 * The program gets its final name only when it is complete. Identifiers are never minified, because
 * Elysia reads the source text of handlers. Its bill of materials (dist/cairn.cdx.json), the notices of what it
 * contains (dist/THIRD-PARTY-NOTICES.txt), the packages for JavaScript applications (dist/npm; not with
 * `--no-packages`), and the checksums of all (dist/SHA256SUMS, for `sha256sum -c`) are written beside it.
 */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { noticesOf } from './notices.ts'
import { pack } from './packages.ts'
import { billOfMaterials, type Lock, type Manifest } from './sbom.ts'
import { type Stamps, stampsOf, versionIn } from './version.ts'

const root = resolve(import.meta.dir, '..')
const dist = join(root, 'dist')

/**
 * The program, and each file that it starts as a worker. Inside the executable they have the same paths as
 * in src, whatever they import, so that `new Worker('./runtime/task-thread.ts')` finds them there.
 */
const entrypoints = [
  'main.ts',
  'runtime/task-thread.ts',
  'runtime/flow-thread.ts',
  'runtime/checkpoint-thread.ts',
].map(path => join(root, 'src', path))

/** Target names, with the package that holds Bun's program for each. */
const runtimes = {
  'linux-x64': '@oven/bun-linux-x64',
  'linux-arm64': '@oven/bun-linux-aarch64',
  'darwin-arm64': '@oven/bun-darwin-aarch64',
} as const

type Target = keyof typeof runtimes

const isTarget = (name: string): name is Target => Object.hasOwn(runtimes, name)

/** A failure that is explained by its message alone. */
class BuildFailure extends Error {}

async function main(): Promise<void> {
  const { targets, commit, withoutPackages } = readArguments()
  const manifest: Manifest = await Bun.file(join(root, 'package.json')).json()
  const { version, devDependencies } = manifest
  if (Bun.version !== devDependencies.bun) {
    throw new BuildFailure(
      `this is Bun ${Bun.version}, package.json asks for ${devDependencies.bun}: use scripts/build`,
    )
  }
  const changelogVersion = versionIn(await Bun.file(join(root, 'CHANGELOG.md')).text())
  if (version !== changelogVersion) {
    throw new BuildFailure(
      `CHANGELOG.md is at ${changelogVersion}, package.json says ${version}: give package.json the former`,
    )
  }
  const absent = entrypoints.filter(path => !existsSync(path))
  if (absent.length > 0) throw new BuildFailure(`not found: ${absent.join(', ')}`)

  const stamps = stampsOf(version, commit ?? currentCommit())
  const programs = targets.length === 0 ? ['cairn'] : targets.map(target => `cairn-${target}`)
  if (targets.length === 0) await build('cairn', stamps)
  for (const target of targets) await build(`cairn-${target}`, stamps, target)

  const lock = await readLock()
  const packages = withoutPackages ? [] : await pack(root, version)
  for (const { file } of packages) console.log(`packed dist/${file}`)
  const packed = await Promise.all(
    packages.map(async ({ name, file }) => {
      const bytes = await Bun.file(join(dist, file)).bytes()
      return { name, sha512: new Bun.CryptoHasher('sha512').update(bytes).digest('hex') }
    }),
  )
  const materials = { root, manifest, lock, stamps, madeAt: madeAt(), packed }
  await Bun.write(join(dist, 'cairn.cdx.json'), await billOfMaterials(materials))
  const notices = await noticesOf(root, manifest, lock)
  await Bun.write(join(dist, 'THIRD-PARTY-NOTICES.txt'), notices)
  const files = packages.map(({ file }) => file)
  await writeChecksums([...programs, 'cairn.cdx.json', 'THIRD-PARTY-NOTICES.txt', ...files])
}

/** Writes the SHA-256 of each file that was built in this run. */
async function writeChecksums(names: readonly string[]): Promise<void> {
  const lines: string[] = []
  for (const name of names) {
    const hash = new Bun.CryptoHasher('sha256')
    for await (const chunk of Bun.file(join(dist, name)).stream()) hash.update(chunk)
    lines.push(`${hash.digest('hex')}  ${name}`)
  }
  await Bun.write(join(dist, 'SHA256SUMS'), `${lines.join('\n')}\n`)
  for (const line of lines) console.log(line)
}

function readArguments() {
  const known = Object.keys(runtimes).filter(isTarget)
  try {
    const { values } = parseArgs({
      args: Bun.argv.slice(2),
      options: {
        target: { type: 'string', multiple: true, default: [] },
        commit: { type: 'string' },
        'no-packages': { type: 'boolean', default: false },
      },
    })
    const targets = values.target.flatMap(name => (name === 'all' ? known : name))
    const unknown = targets.find(name => !isTarget(name))
    if (unknown !== undefined) throw new Error(`unknown target '${unknown}'`)
    const commit = values.commit || undefined
    if (commit && !/^[0-9A-Za-z-]{1,40}$/.test(commit)) {
      throw new Error(`'${commit}' is no commit: give letters, digits and hyphens`)
    }
    const unique = [...new Set(targets.filter(isTarget))]
    return { targets: unique, commit, withoutPackages: values['no-packages'] }
  } catch (error) {
    const usage = `usage: build [--target ${known.join('|')}|all]... [--commit ID] [--no-packages]`
    throw new BuildFailure(`${(error as Error).message}\n${usage}`)
  }
}

async function build(name: string, stamps: Stamps, target?: Target): Promise<void> {
  const other = target === `${process.platform}-${process.arch}` ? undefined : target
  const runtime = other && (await fetchRuntime(other))
  const started = performance.now()
  await mkdir(dist, { recursive: true })
  const workshop = await mkdtemp(join(dist, '.build-'))
  const outfile = join(workshop, name)
  try {
    await Bun.build({
      entrypoints,
      root: join(root, 'src'),
      target: 'bun',
      minify: { whitespace: true, syntax: true, identifiers: false },
      // Without bytecode, which is 11 MB: with it, a command takes 30 ms less and `serve` 75 ms.
      format: 'esm',
      // What threads share is in the executable once: 32 MB less of it, and 15 MiB less memory.
      splitting: true,
      sourcemap: 'linked',
      define: {
        CAIRN_BUILD_VERSION: JSON.stringify(stamps.version),
        CAIRN_BUILD_COMMIT: JSON.stringify(stamps.commit),
        'process.env.NODE_ENV': JSON.stringify('production'),
      },
      compile: {
        outfile,
        ...(runtime && { target: `bun-${other}`, executablePath: runtime }),
        autoloadDotenv: false,
        autoloadBunfig: false,
      },
    })
    await rename(outfile, join(dist, name))
  } finally {
    await rm(workshop, { recursive: true, force: true })
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  const megabytes = ((await stat(join(dist, name))).size / 1e6).toFixed(1)
  console.log(`built dist/${name}: ${megabytes} MB in ${seconds} s, version ${stamps.version}`)
}

/**
 * The path of Bun's program for a target. Bun's installer fetches it into a package made for this, which
 * depends on nothing else and is locked by that dependency's own entry in the project's bun.lock.
 */
async function fetchRuntime(target: Target): Promise<string> {
  const name = runtimes[target]
  const lock = await readLock()
  const entry = lock.packages[name]
  if (!entry) throw new BuildFailure(`bun.lock has no ${name}`)
  const [id, , , integrity] = entry
  const version = id.slice(name.length + 1)

  const folder = join(root, 'node_modules/.cache/cairn-runtimes', `${target}-${version}`)
  const program = join(folder, 'node_modules', name, 'bin/bun')
  const complete = join(folder, 'complete')
  if (existsSync(complete) && existsSync(program)) return program

  console.log(`fetching ${id}`)
  const packageName = `cairn-runtime-${target}`
  const dependencies = { [name]: version }
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ name: packageName, private: true, dependencies }),
  )
  // Without the entry's operating system and processor, otherwise Bun would leave it out on this machine.
  await writeFile(
    join(folder, 'bun.lock'),
    JSON.stringify({
      lockfileVersion: lock.lockfileVersion,
      workspaces: { '': { name: packageName, dependencies } },
      packages: { [name]: [id, '', {}, integrity] },
    }),
  )
  // With a cache of its own, because what the user's cache holds would not be checked against the lock.
  const cache = join(folder, 'cache')
  const install = Bun.spawnSync(
    [process.execPath, 'install', '--frozen-lockfile', '--ignore-scripts', '--cache-dir', cache],
    { cwd: folder, stdout: 'pipe', stderr: 'pipe' },
  )
  if (!install.success || !existsSync(program)) {
    throw new BuildFailure(`could not fetch ${id}\n${install.stderr}${install.stdout}`)
  }
  await rm(cache, { recursive: true, force: true })
  await writeFile(complete, '')
  return program
}

const readLock = async () =>
  Bun.JSONC.parse(await Bun.file(join(root, 'bun.lock')).text()) as Lock & {
    lockfileVersion: number
  }

/** The same for every build of a commit: SOURCE_DATE_EPOCH, or the commit's time; not known outside of git. */
function madeAt(): Date | undefined {
  const seconds = Number(process.env.SOURCE_DATE_EPOCH || git('log', '-1', '--format=%ct'))
  return seconds > 0 ? new Date(seconds * 1_000) : undefined
}

/** The commit checked out here, '-dirty' if files differ from it, 'unknown' outside of git. */
function currentCommit(): string {
  // A prefix means that this is inside another project's checkout, and the commit would be that project's.
  if (git('rev-parse', '--show-prefix') !== '') return 'unknown'
  // A fixed length, because git's own choice depends on how much else a clone holds.
  const commit = git('rev-parse', '--short=12', 'HEAD')
  if (!commit) return 'unknown'
  return git('status', '--porcelain') === '' ? commit : `${commit}-dirty`
}

/** What a git command prints, or undefined if it fails or there is no git. */
function git(...command: string[]): string | undefined {
  try {
    const { success, stdout } = Bun.spawnSync(['git', ...command], { cwd: root, stderr: 'ignore' })
    return success ? stdout.toString().trim() : undefined
  } catch {
    return undefined
  }
}

try {
  await main()
} catch (error) {
  console.error('build failed')
  if (error instanceof BuildFailure) console.error(error.message)
  else if (error instanceof AggregateError) for (const log of error.errors) console.error(log)
  else console.error(error)
  process.exit(1)
}
