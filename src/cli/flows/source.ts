import { isAbsolute, relative } from 'node:path'
import { UsageFailure } from '../failure.ts'
import type { NamedFile } from './files.ts'

/** The source of flows, as a push names it. */
interface Source {
  repository: string
  commit: string
  paths: Record<string, string>
}

/** The variables in which well-known CI services name the repository and the commit that they work on. */
const known = [
  ['GITHUB_REPOSITORY', 'GITHUB_SHA'],
  ['CI_PROJECT_PATH', 'CI_COMMIT_SHA'],
] as const

const ofEnvironment = () =>
  known
    .map(names => names.map(name => process.env[name] || undefined))
    .find(([repository, commit]) => repository && commit) ?? []

/** The path of a file within the folder that one pushes from; undefined for a file elsewhere. */
function pathOf(name: string): string | undefined {
  const path = relative(process.cwd(), name)
  return name === '-' || isAbsolute(path) || path.startsWith('..') ? undefined : path
}

/**
 * What a push says about where its files come from; undefined if nothing is known about it.
 *
 * @throws UsageFailure if only half of what is needed is known
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
    throw new UsageFailure(
      `${given.lock ? '--lock needs the source of the flows' : 'a source is a repository and a commit'}: give --source-repository and --commit`,
    )
  }
  const paths = files.flatMap(({ name, flows }) => {
    const path = pathOf(name)
    return path === undefined ? [] : flows.map(({ key }) => [key, path] as const)
  })
  return { repository, commit, paths: Object.fromEntries(paths) }
}
