/** Which build this is. `scripts/build.ts` puts both constants into the executable. */

declare const CAIRN_BUILD_VERSION: string
declare const CAIRN_BUILD_COMMIT: string

/**
 * Which build this is (Semantic Versioning 2.0.0): the version that is released or in development, and the
 * commit, such as 0.2.0-dev+ff25f2d. 'dev' if the program runs from source.
 */
export const version = typeof CAIRN_BUILD_VERSION === 'string' ? CAIRN_BUILD_VERSION : 'dev'

/**
 * The commit that was built, followed by '-dirty' if files differed from it; 'unknown' if there was no git,
 * 'dev' if the program runs from source.
 */
export const commit = typeof CAIRN_BUILD_COMMIT === 'string' ? CAIRN_BUILD_COMMIT : 'dev'
