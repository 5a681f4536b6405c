import fc from 'fast-check'
import type { Theme } from '../../src/core/flow/theme.ts'

const colour = fc.constantFrom('#fff', '#0b7285', 'rgb(1 2 3)', 'tomato', 'oklch(0.2 0 0)')
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null })
const some = <T extends Record<string, unknown>>(
  fields: {
    [Name in keyof T]: fc.Arbitrary<T[Name]>
  },
) => fc.record(fields, { requiredKeys: [] })

const always = fc.record({
  accent: orNull(colour),
  background: orNull(colour),
  text: orNull(colour),
  radius: orNull(fc.nat(64)),
})

const optional = some({
  preset: fc.constantFrom('calm', 'sharp', 'soft', 'bold'),
  dark: some({
    ...{ accent: colour, background: colour, text: colour },
    logo: fc.constant('/dark.svg'),
  }),
  font: some({
    family: fc.constantFrom('serif', '"Inter", sans-serif', "'Ünï cöde'"),
    size: fc.integer({ min: 10, max: 24 }),
  }),
  border: some({ color: colour, width: fc.nat(8) }),
  shadow: fc.constantFrom('none', 'soft', 'strong'),
  density: fc.constantFrom('compact', 'normal', 'roomy'),
  zIndex: fc.nat(2_147_483_647),
  logo: fc.constantFrom('/logo.svg', 'https://cdn.example/logo.png'),
  launcher: some({ side: fc.constantFrom('start', 'end'), label: fc.constant('Help me') }),
  progress: fc.constantFrom('words', 'dots', 'bar', 'none'),
  spotlight: fc.constantFrom('off', 'dim', 'block'),
})

/** A theme of the right shape, with few fields or with many. */
export const anyTheme: fc.Arbitrary<Theme> = fc
  .tuple(always, fc.oneof(fc.constant({}), optional))
  .map(([said, more]) => ({ ...said, ...more }) as Theme)
