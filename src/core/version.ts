/** Which build this is. `scripts/build.ts` puts both constants into the executable. */

declare const CAIRN_BUILD_VERSION: string
declare const CAIRN_BUILD_COMMIT: string

/** The version in package.json, or 'dev' when the program runs from source. */
export const version = typeof CAIRN_BUILD_VERSION === 'string' ? CAIRN_BUILD_VERSION : 'dev'

/** The commit built from, with '-dirty' after it if files differed, or 'dev' from source. */
export const commit = typeof CAIRN_BUILD_COMMIT === 'string' ? CAIRN_BUILD_COMMIT : 'dev'
