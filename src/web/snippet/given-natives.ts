import type * as Natives from './natives.ts'

const given = (globalThis as unknown as Record<symbol, typeof Natives>)[Symbol.for('cairn')]!

/** `natives.ts`, in files that are loaded on demand: the bundler takes this file in its place. */
export const { OwnJSON, OwnPromise, ask, jsonIn, sendBeacon } = given
