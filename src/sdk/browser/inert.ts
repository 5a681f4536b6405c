import type { Cairn } from '../../web/snippet/api.ts'

/** What there is where no page is, as where a server draws one: nothing happens, and nothing is waited for. */
export const inert: Cairn = {
  identify: async () => 'alone',
  group() {},
  track() {},
  start() {},
  stop() {},
  reset: async () => 'alone' as const,
  isActive: () => false,
  progress: () => null,
  flows: async () => [],
  why: async () => null,
  debug() {},
  on: () => () => {},
  consent() {},
}
