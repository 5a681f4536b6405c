import type * as Natives from './natives.ts'

const given = (globalThis as unknown as Record<symbol, typeof Natives>)[Symbol.for('cairn')]!

/** `natives.ts` of the page's script, for files that are loaded on demand: the bundler substitutes this file. */
export const { OwnJSON, OwnPromise, jsonIn, request, sendBeacon } = given
