/**
 * The bill of materials of the executable (CycloneDX 1.6, JSON): the packages that package.json
 * depends on, as bun.lock pins them, with everything that they depend on, and Bun itself, which is in it
 * too. The same lock and commit give the same text.
 */
import { join } from 'node:path'
import { Contrib, Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library'
import type { Stamps } from './version.ts'

/** An entry of bun.lock. The key of a copy that one package has for itself is such as `parent/name`. */
type LockedPackage = [id: string, registry: string, info: LockedInfo, integrity: string]

interface LockedInfo {
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  optionalPeers?: string[]
}

export interface Lock {
  packages: Record<string, LockedPackage>
}

/** The part of package.json that describes the executable. */
export interface Manifest {
  name: string
  version: string
  description: string
  license: string
  dependencies: Record<string, string>
  devDependencies: { bun: string }
}

interface SbomSource {
  /** The project's folder, with its packages installed. */
  root: string
  manifest: Manifest
  lock: Lock
  stamps: Stamps
  /** When the sources were made: the commit's time; undefined if it is not known. */
  madeAt: Date | undefined
  /** The packages that are made beside the executable. */
  packed?: readonly PackedFile[]
}

/** One of Cairn's own packages, which depends on nothing but its peers. */
interface PackedFile {
  /** `@cairn/browser`. */
  name: string
  sha512: string
}

/** What a component says about itself. */
interface Facts {
  name: string
  version: string
  license?: string | undefined
  description?: string
  /** By default that of a package in npm's registry. */
  purl?: string
  bomRef?: string
  sha512?: string
}

const { ExternalReferenceFactory } = Contrib.FromNodePackageJson.Factories
const components = new Contrib.FromNodePackageJson.Builders.ComponentBuilder(
  new ExternalReferenceFactory(),
  new Contrib.License.Factories.LicenseFactory(text => {
    if (!/ (OR|AND|WITH) /.test(text)) throw new Error('not an expression')
  }),
)

function componentOf(
  { name, version, license, description, sha512, ...ids }: Facts,
  type = Enums.ComponentType.Library,
): Models.Component {
  const purl = ids.purl ?? `pkg:npm/${name.replace('@', '%40')}@${version}`
  const known = { name, version, ...(license && { license }), ...(description && { description }) }
  const component = components.makeComponent(known, type)!
  component.purl = purl
  component.bomRef.value = ids.bomRef ?? purl
  if (sha512) component.hashes.set(Enums.HashAlgorithm['SHA-512'], sha512)
  return component
}

/** The bill of materials, as text. */
export async function billOfMaterials(source: SbomSource): Promise<string> {
  const { root, manifest, lock, stamps, madeAt, packed = [] } = source
  const { name, description, license, dependencies } = manifest
  const { version, commit } = stamps
  const cairn = componentOf(
    { name, version, description, license, bomRef: `cairn@${version}` },
    Enums.ComponentType.Application,
  )
  cairn.purl = undefined
  cairn.properties.add(new Models.Property('cairn:commit', commit))
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ component: cairn, ...(madeAt && { timestamp: madeAt }) }),
  })
  const locked = new Map<string, Models.Component>()
  for (const key of closureOf(manifest, lock)) {
    const component = componentOf(await lockedFacts(key, lock, root))
    locked.set(key, component)
    bom.components.add(component)
  }
  for (const [key, component] of locked) {
    for (const needed of neededBy(key, lock)) component.dependencies.add(locked.get(needed)!.bomRef)
  }
  for (const key of Object.keys(dependencies)) cairn.dependencies.add(locked.get(key)!.bomRef)
  const bun = bunOf(manifest.devDependencies.bun)
  bom.components.add(bun)
  cairn.dependencies.add(bun.bomRef)
  for (const file of packed) {
    bom.components.add(componentOf({ ...file, version: manifest.version, license }))
  }
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6)
  const serializer = new Serialize.JsonSerializer(factory)
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`
}

/** The runtime in the executable, which includes SQLite and JavaScriptCore. */
const bunOf = (version: string) =>
  componentOf(
    {
      name: 'bun',
      version,
      license: 'MIT',
      bomRef: `bun@${version}`,
      description: 'Runtime within the executable, with JavaScriptCore, SQLite and BoringSSL',
      purl: `pkg:github/oven-sh/bun@bun-v${version}`,
    },
    Enums.ComponentType.Platform,
  )

/** The keys of all packages that end up, or may end up, in the executable. */
export function closureOf({ dependencies }: Pick<Manifest, 'dependencies'>, lock: Lock): string[] {
  const found = new Set<string>()
  const open = Object.keys(dependencies)
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (found.has(key)) continue
    found.add(key)
    open.push(...neededBy(key, lock))
  }
  return [...found].sort()
}

/** The keys of what one package depends on, as far as it is locked; optional packages may not be. */
function neededBy(key: string, { packages }: Lock): string[] {
  const entry = packages[key]
  if (!entry) throw new Error(`bun.lock has no ${key}`)
  const { dependencies, optionalDependencies, peerDependencies, optionalPeers = [] } = entry[2]
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
  return names.flatMap(name => {
    const found = resolved(key, name, packages)
    const isOptional = optionalPeers.includes(name) || name in (optionalDependencies ?? {})
    if (found === null && !isOptional) throw new Error(`bun.lock has no ${name} for ${key}`)
    return found === null || optionalPeers.includes(name) ? [] : [found]
  })
}

/** Finds a package as on disk: the copy nearest to the one that needs it. */
function resolved(from: string, name: string, packages: Lock['packages']): string | null {
  for (let path = pathOf(from); ; path = path.slice(0, -1)) {
    const key = [...path, name].join('/')
    if (packages[key]) return key
    if (path.length === 0) return null
  }
}

/** The names in a key. The name of a scoped package has a slash in it. */
const pathOf = (key: string): string[] => key.match(/(@[^/]+\/)?[^/]+/g) ?? []

async function lockedFacts(key: string, lock: Lock, root: string): Promise<Facts> {
  const [id, , , integrity] = lock.packages[key] as LockedPackage
  const at = id.lastIndexOf('@')
  const [, digits] = /^sha512-(\S+)/.exec(integrity) ?? []
  if (digits === undefined) throw new Error(`no SHA-512 in ${integrity}`)
  const file = Bun.file(join(folderOf(root, key), 'package.json'))
  // A package for another system is locked but not installed.
  const { license }: { license?: string | { type?: string } } = (await file.exists())
    ? await file.json()
    : {}
  return {
    name: id.slice(0, at),
    version: id.slice(at + 1),
    license: typeof license === 'object' ? license.type : license,
    sha512: Buffer.from(digits, 'base64').toString('hex'),
  }
}

/** Where a package is installed. */
export const folderOf = (root: string, key: string): string =>
  join(root, 'node_modules', pathOf(key).join('/node_modules/'))
