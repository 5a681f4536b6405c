/** Which build this is. `scripts/build.ts` puts both constants into the executable. */

declare const CAIRN_BUILD_VERSION: string
declare const CAIRN_BUILD_COMMIT: string

/**
 * Which build this is (Semantic Versioning 2.0.0): the version that is in the making or released, and
 * the commit, such as 0.2.0-dev+ff25f2d. 'dev' when the program runs from source.
 */
export const version = typeof CAIRN_BUILD_VERSION === 'string' ? CAIRN_BUILD_VERSION : 'dev'

/**
 * The commit built from, with '-dirty' after it if files differed; 'unknown' where there was no git,
 * 'dev' when the program runs from source.
 */
export const commit = typeof CAIRN_BUILD_COMMIT === 'string' ? CAIRN_BUILD_COMMIT : 'dev'
