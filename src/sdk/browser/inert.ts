import type { Cairn } from '../../web/snippet/api.ts'

/** The client where there is no page, as in server-side rendering: it does nothing, and waits for nothing. */
export const inert: Cairn = {
  identify: async () => 'alone',
  group() {},
  track() {},
  start() {},
  stop() {},
  highlight: async () => false,
  reset: async () => 'alone' as const,
  isActive: () => false,
  progress: () => null,
  flows: async () => [],
  why: async () => null,
  debug() {},
  on: () => () => {},
  consent() {},
}
