import { describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import fc from 'fast-check'
import { readFlowFile } from '../../../src/core/flow/file.ts'
import {
  coloursOn,
  contrast,
  mergedTheme,
  standingOut,
  storedTheme,
} from '../../../src/core/flow/merged-theme.ts'
import { flowText } from '../../../src/core/flow/text.ts'
import { Theme } from '../../../src/core/flow/theme.ts'
import { readThemeFile } from '../../../src/core/flow/theme-file.ts'
import { luminanceOf, themeProblems } from '../../../src/core/flow/theme-rules.ts'
import { anyTheme } from '../../support/any-theme.ts'

/** What a theme may contain, and how several themes are merged. */

const old = { accent: null, background: null, text: null, radius: null }
const isTheme = (theme: unknown) => Value.Check(Theme, theme)
const withFamily = (family: string) => isTheme({ ...old, font: { family } })
const withLogo = (logo: string) => isTheme({ ...old, logo })

describe('the shape', () => {
  test.each([
    ...['Inter', '"Inter", sans-serif', "'Ünï cöde 2', serif", '-apple-system, BlinkMacSystemFont'],
    ...['Times New Roman', 'system-ui,sans-serif', '"日本語フォント"', 'inherit'],
  ])('accepts %p as fonts', family => {
    expect(withFamily(family)).toBe(true)
  })

  test.each([
    ...['', ' Inter', 'Inter;', 'a; color: red', 'a } body { display: none', 'url(/font.woff)'],
    ...['"a" url(x)', 'var(--x)', '"a\\"', "'a", '"a\nb"', 'a /* b */', '"/* a */"', 'a,', ',a'],
    ...['"a;b"', '"a}"', 'a\u0000', '@import "x"', '2 Stone', '"\u2028"', '"a", , b', '<a>'],
  ])('rejects %p as fonts', family => {
    expect(withFamily(family)).toBe(false)
  })

  test('accepts no fonts that could end the CSS rule or load anything', () => {
    const unit = fc.constantFrom(
      ...['url(', 'src(', 'Inter', 'a', ' ', ',', '"', "'", ';', '}', '{', ':', '\\', '/*', '*/'],
      ...['//', '\n', '(', ')', '@', '<', '-', '\u0000', '\u2029', 'ü', '1'],
    )
    let taken = 0
    fc.assert(
      fc.property(fc.array(unit, { minLength: 1, maxLength: 6 }), units => {
        const family = units.join('')
        if (!withFamily(family)) return
        taken++
        expect(family).not.toMatch(/[;{}()\\/*:@<>\p{Cc}\u2028\u2029]/u)
        const bare = family.replace(/"[^"]*"|'[^']*'/g, '')
        expect(bare).not.toMatch(/["']/)
      }),
      { numRuns: 4_000 },
    )
    expect(taken).toBeGreaterThan(5)
  })

  test.each([
    'https://cdn.example/a.png?b=c:d',
    '/logo.svg',
    'logo.svg',
    '../a.png',
    'HTTPS://a/b',
  ])('accepts %p as a logo', logo => expect(withLogo(logo)).toBe(true))

  test.each([
    ...['http://a/b.png', 'data:image/svg+xml,x', 'javascript:alert(1)', '//a/b.png', '\\\\a\\b'],
    ...[' /a', 'java\nscript:x', '/a\u0000', '', 'blob:x', '/\\a/b'],
  ])('rejects %p as a logo', logo => expect(withLogo(logo)).toBe(false))

  test.each([
    ...[{ zIndex: -1 }, { zIndex: 2 ** 31 }, { font: { size: 9 } }, { font: { size: 25 } }],
    ...[{ border: { width: 9 } }, { preset: 'loud' }, { shadow: 'huge' }, { dark: { radius: 1 } }],
    ...[{ launcher: { label: '' } }, { launcher: { side: 'left' } }, { progress: null }],
    ...[{ border: { color: 'url(x)' } }, { dark: { accent: 'red;' } }],
  ])('%p is no theme', fields => {
    expect(isTheme({ ...old, ...fields })).toBe(false)
  })

  test('is the same after it was written as text and read', () => {
    fc.assert(
      fc.property(anyTheme, theme => {
        const [flow] = readFlowFile('key: a\nsteps: [{ key: s, title: S }]').flows
        const [again] = readFlowFile(flowText({ ...flow!, theme })).flows
        const isSaid = Object.values(theme).some(value => value !== null)
        expect(again?.theme).toEqual(isSaid ? theme : { ...old })
      }),
    )
  })
})

describe('several themes', () => {
  const maybe = fc.option(anyTheme, { nil: null })

  test('merge into a theme that has everything the upper one sets', () => {
    fc.assert(
      fc.property(maybe, anyTheme, (organisation, flow) => {
        const merged = mergedTheme(organisation, flow)
        expect(isTheme(merged)).toBe(true)
        const { preset: _, ...said } = flow
        for (const [name, value] of Object.entries(said)) {
          const field = merged[name as keyof Theme]
          if (value === null || JSON.stringify(value) === '{}') continue
          else if (typeof value === 'object') expect(field).toMatchObject(value)
          else expect(field).toBe(value as never)
        }
      }),
    )
  })

  test('that set nothing change nothing, and merging one with itself changes nothing', () => {
    fc.assert(
      fc.property(maybe, theme => {
        const once = mergedTheme(null, theme)
        expect(mergedTheme(theme, null)).toEqual(once)
        expect(mergedTheme(theme, old)).toEqual(once)
        expect(mergedTheme(theme, theme)).toEqual(once)
        expect(mergedTheme(once, null)).toEqual(once)
        expect(mergedTheme(storedTheme(theme), null)).toEqual(once)
      }),
    )
  })

  test('override the preset, which is the flow’s, else the organisation’s', () => {
    const organisation = { preset: 'calm', radius: 3, font: { family: 'serif' } } as const
    expect(mergedTheme(organisation, null)).toMatchObject({
      ...{ radius: 3, shadow: 'soft', font: { family: 'serif', size: 15 } },
    })
    expect(mergedTheme(organisation, { preset: 'bold', shadow: 'none' })).toMatchObject({
      ...{ preset: 'bold', radius: 3, shadow: 'none', font: { family: 'serif', size: 17 } },
    })
  })

  test('of a newer release, or of no release, do no harm', () => {
    const newer = { preset: 'loud', __proto__: null, constructor: 1, sparkle: { a: 1 } } as never
    expect(mergedTheme(newer, null)).toMatchObject({ accent: null, sparkle: { a: 1 } })
    expect(mergedTheme({ preset: 'constructor' } as never, undefined)).toMatchObject(old)
  })

  test('what sets nothing is not stored', () => {
    expect(storedTheme({})).toBeNull()
    expect(storedTheme({ ...old, dark: {}, font: undefined as never })).toBeNull()
    expect(storedTheme({ accent: '#fff', dark: {} })).toEqual({ ...old, accent: '#fff' })
  })
})

describe('colours', () => {
  test('for dark pages replace background and text as a pair, and only there', () => {
    const theme = { ...old, accent: '#111', background: '#fff', text: '#222' }
    expect(coloursOn({ ...theme, dark: { accent: '#eee' } }, true)).toEqual({
      ...{ accent: '#eee', background: '#fff', text: '#222' },
    })
    expect(coloursOn({ ...theme, dark: { background: '#000' } }, true)).toEqual({
      ...{ accent: '#111', background: '#000', text: null },
    })
    expect(coloursOn({ ...theme, dark: { background: '#000' } }, false).background).toBe('#fff')
  })

  test('have black or white text on them, always with enough contrast to be read', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), ground => {
        const words = standingOut(ground) === '#000' ? 0 : 1
        expect(contrast(words, ground)).toBeGreaterThanOrEqual(4.5)
      }),
    )
  })

  test.each<[string, number | null]>([
    ['#fff', 1],
    ['black', 0],
    ['rgb(255 255 255)', 1],
    ['oklch(1 0 0)', 1],
    ['#ffffff80', null],
    ['transparent', null],
    ['currentcolor', null],
    ['var(--brand)', null],
    ['nonsense', null],
  ])('%s has the luminance %p', (colour, expected) => {
    const found = luminanceOf(colour)
    if (expected === null) expect(found).toBeNull()
    else expect(found).toBeCloseTo(expected, 3)
  })

  const briefs = (theme: Partial<Theme>) =>
    [...themeProblems(theme)].map(({ severity, code, path }) => `${severity} ${code} ${path}`)

  test.each<[Partial<Theme>, string[]]>([
    [{}, []],
    [{ accent: '#0b7285' }, []],
    [{ accent: '#ffe066' }, ['/accent']],
    [{ background: '#fff', text: '#999' }, ['/text']],
    [{ background: '#808080' }, ['/background']],
    // The background is one that goes with the text.
    [{ text: '#fff' }, []],
    [{ background: '#000', accent: '#111' }, ['/accent']],
    [{ dark: { background: '#111', text: '#444' } }, ['/dark/text']],
    [{ accent: '#0b7285', dark: { background: '#0c6170' } }, ['/accent']],
    // On a dark page an accent is as it is on light ones, on the snippet's own dark background.
    [{ accent: '#111827' }, ['/accent']],
    [{ accent: '#111827', dark: { accent: '#9db2ff' } }, []],
    [{ accent: '#111827', background: '#fff' }, []],
    [{ accent: '#111827', text: '#111' }, []],
    [{ accent: '#111827', dark: { logo: '/a.svg' } }, ['/accent']],
    [{ accent: 'var(--x)', background: 'color-mix(in srgb, red, blue)', text: '#777' }, []],
    [{ accent: '#ffe06680' }, []],
  ])('%p has a warning at %p', (theme, paths) => {
    expect(briefs(theme)).toEqual(paths.map(path => `warning low_contrast ${path}`))
  })

  const words = 'a CSS colour such as #1f6feb or rgb(31 111 235)'
  test.each<[string, string]>([
    ['bleu', ': did you mean "blue"?'],
    ['Darkblu', ': did you mean "darkblue"?'],
    ['notacolour', ''],
    ['inherit', ''],
  ])('the word %s names none', (word, hint) => {
    const message = `Must be ${words}, not "${word}"${hint}`
    const theme = {
      ...{ accent: word, background: word, text: word, border: { color: word } },
      dark: { accent: word, background: word, text: word },
    }
    const paths = ['/accent', '/background', '/text', '/border/color']
    const wrong = [...themeProblems(theme)].filter(({ severity }) => severity === 'error')
    expect(wrong).toEqual(
      [...paths, ...paths.slice(0, 3).map(path => `/dark${path}`)].map(path => ({
        ...{ severity: 'error', code: 'invalid_value', path, message },
      })),
    )
  })

  test.each([
    ...['blue', 'RebeccaPurple', 'transparent', 'currentColor', 'CanvasText', 'AccentColor'],
    ...['#12f', '#1f6feb80', 'rgb(31 111 235)', 'hsl(215 84% 52%)', 'oklch(60% .2 260)'],
    ...['color(display-p3 0 0 1)', 'color-mix(in srgb, red, blue)', 'var(--brand)'],
  ])('%s is one', border => {
    expect([...themeProblems({ border: { color: border } })]).toEqual([])
  })

  test('a flow file has a word that names none as an error', () => {
    const text = 'key: a\ntheme: { accent: bleu }\nsteps: [{ key: s, title: S }]'
    const { flows, problems } = readFlowFile(text)
    expect(flows).toEqual([])
    expect(problems).toMatchObject([
      { severity: 'error', code: 'invalid_value', path: '/theme/accent', line: 2, column: 18 },
    ])
  })
})

describe('a theme file', () => {
  test('is read, and its problems are reported with their lines', () => {
    const { theme, problems } = readThemeFile('accent: "#0b7285"\nfont: { size: 16 }\n')
    expect([theme, problems]).toEqual([{ ...old, accent: '#0b7285', font: { size: 16 } }, []])
    expect(readThemeFile('accent: bleu').theme).toBeNull()
    const wrong = readThemeFile('accent: red;\nshade: 1\nfont: { size: big }')
    expect(wrong.theme).toBeNull()
    expect(wrong.problems.map(({ line, path }) => [line, path])).toEqual([
      [1, '/accent'],
      [2, '/shade'],
      [3, '/font/size'],
    ])
  })

  test.each(['', '- a', 'text', 'a: 1\n---\nb: 2'])('%p is not one', text => {
    const { theme, problems } = readThemeFile(text)
    expect(theme).toBeNull()
    expect(problems.map(({ code }) => code)).toEqual(['not_a_theme'])
  })
})
