import { isAbsolute, relative } from 'node:path'
import { UsageFailure } from '../failure.ts'
import type { NamedFile } from './files.ts'

/** The source of flows, as a push names it. */
interface Source {
  repository: string
  commit: string
  paths: Record<string, string>
}

/** Variables of CI services with the repository and the commit. */
const known = [
  ['GITHUB_REPOSITORY', 'GITHUB_SHA'],
  ['CI_PROJECT_PATH', 'CI_COMMIT_SHA'],
] as const

const ofEnvironment = () =>
  known
    .map(names => names.map(name => process.env[name] || undefined))
    .find(([repository, commit]) => repository && commit) ?? []

/** The path of a file below the working directory; undefined for a file elsewhere. */
function pathOf(name: string): string | undefined {
  const path = relative(process.cwd(), name)
  return name === '-' || isAbsolute(path) || path.startsWith('..') ? undefined : path
}

/**
 * The repository and commit of a push; undefined if there is none.
 *
 * @throws UsageFailure if only one of them is set
 */
export function sourceOf(
  files: readonly NamedFile[],
  given: { sourceRepository?: string; commit?: string; lock?: boolean },
): Source | undefined {
  const [itsRepository, itsCommit] = ofEnvironment()
  const repository = given.sourceRepository ?? itsRepository
  const commit = given.commit ?? itsCommit
  if (!repository || !commit) {
    const isHalf = given.sourceRepository !== undefined || given.commit !== undefined
    if (!isHalf && !given.lock) return undefined
    throw new UsageFailure('set both --source-repository and --commit')
  }
  const paths = files.flatMap(({ name, flows }) => {
    const path = pathOf(name)
    return path === undefined ? [] : flows.map(({ key }) => [key, path] as const)
  })
  return { repository, commit, paths: Object.fromEntries(paths) }
}
