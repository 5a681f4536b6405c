/** The version of a build, after Semantic Versioning 2.0.0, from the changelog and the commit. */

/**
 * The version that a changelog (Keep a Changelog) is at: that of its newest release or, if there are changes
 * under "Unreleased", the next minor one in the making, such as `0.2.0-dev`.
 */
export function versionIn(changelog: string): string {
  const [, ...sections] = changelog.split(/^## /m)
  const release = sections
    .map(section => /^\[?(\d+)\.(\d+)\.(\d+)\]?(?: |$)/m.exec(section.split('\n', 1)[0] ?? ''))
    .find(found => found !== null)
  const [major, minor, patch] = (release ?? ['', 0, 0, 0]).slice(1).map(Number)
  const unreleased = sections.find(section => /^\[?Unreleased\b/i.test(section))
  const hasChanges = unreleased !== undefined && /^[-*] /m.test(unreleased)
  if (!release && !hasChanges) throw new Error('CHANGELOG.md tells of no release and no change')
  return hasChanges ? `${major}.${Number(minor) + 1}.0-dev` : `${major}.${minor}.${patch}`
}

/** What is put into an executable: see `src/core/version.ts`. */
export interface Stamps {
  version: string
  commit: string
}

/**
 * @param version - without a commit
 * @param commit - as git abbreviates it, with `-dirty` if files differ from it, or `unknown`
 */
export const stampsOf = (version: string, commit: string): Stamps => ({
  version: `${version}+${commit}`,
  commit,
})
