import {
  colorsNamed,
  converter,
  modeHsl,
  modeHwb,
  modeLab,
  modeLch,
  modeOklab,
  modeOklch,
  modeRgb,
  parse,
  useMode,
} from 'culori/fn'
import { didYouMean, quoted } from '../text/wording.ts'
import {
  type Colours,
  coloursOn,
  contrast,
  goesWith,
  luminance,
  mergedTheme,
  minOfShapes,
  minOfText,
  ownColours,
} from './merged-theme.ts'
import { error, type FlowProblem, warning } from './problem.ts'
import type { Theme } from './theme.ts'
import { colourPattern, patternsInWords } from './values.ts'

for (const mode of [modeRgb, modeHsl, modeHwb, modeLab, modeLch, modeOklab, modeOklch])
  useMode(mode)
const asRgb = converter('rgb')

const clamped = (part: number) => Math.min(1, Math.max(0, part))

/** The luminance of a colour that is the same on every page; null for other colours and for no colour. */
export function luminanceOf(colour: string): number | null {
  const rgb = asRgb(parse(colour))
  if (rgb === undefined || (rgb.alpha ?? 1) < 1) return null
  return luminance([rgb.r, rgb.g, rgb.b].map(clamped))
}

/** Rounded down, so that a message never states a ratio that would have been enough. */
const ratioText = (ratio: number) => `${Math.floor(ratio * 10) / 10} : 1`

/** Words that name a colour, also those that follow the visitor's system (CSS Color 4, section 6). */
const colourWords = [
  ...Object.keys(colorsNamed),
  ...['transparent', 'currentcolor'],
  ...['AccentColor', 'AccentColorText', 'ActiveText', 'ButtonBorder', 'ButtonFace', 'ButtonText'],
  ...['Canvas', 'CanvasText', 'Field', 'FieldText', 'GrayText', 'Highlight', 'HighlightText'],
  ...['LinkText', 'Mark', 'MarkText', 'SelectedItem', 'SelectedItemText', 'VisitedText'],
]
const knownWords = new Set(colourWords.map(word => word.toLowerCase()))

interface UnknownColour {
  path: string
  colour: string
  /** What a colour must be, as a sentence without its end. */
  expected: string
  /** The colour that was probably meant, as the end of a sentence, or an empty text. */
  hint: string
}

/** The colours of a theme that are words which name none. */
export function unknownColours({ dark, border, ...light }: Partial<Theme>): UnknownColour[] {
  const given = {
    ...{ accent: light.accent, background: light.background, text: light.text },
    'border/color': border?.color,
    ...{
      'dark/accent': dark?.accent,
      'dark/background': dark?.background,
      'dark/text': dark?.text,
    },
  }
  return Object.entries(given).flatMap(([name, colour]) => {
    // The dashboard's form may hold other things while it is edited.
    if (typeof colour !== 'string' || !/^[a-z]+$/i.test(colour)) return []
    if (knownWords.has(colour.toLowerCase())) return []
    const expected = `Must be ${patternsInWords[colourPattern]}`
    return { path: `/${name}`, colour, expected, hint: didYouMean(colour, colourWords) }
  })
}

/** The same as problems. */
export const wrongColours = (theme: Partial<Theme>) =>
  unknownColours(theme).map(({ path, colour, expected, hint }) => ({
    path,
    message: `${expected}, not ${quoted(colour)}${hint}`,
  }))

/**
 * Where a theme cannot be read or seen, as far as its colours alone tell. Colours that it leaves out are the
 * snippet's own. Text on the accent is not checked, because it is black or white, whichever is more readable.
 */
export function lowContrasts(theme: Partial<Theme>) {
  const whole = mergedTheme(null, theme)
  // A background or a text colour without others for dark pages is the same on those.
  const isForDarkToo = theme.dark || !(theme.background ?? theme.text)
  return [...contrastsOn(whole, false), ...(isForDarkToo ? contrastsOn(whole, true) : [])]
}

export const themeProblems = (theme: Partial<Theme>): FlowProblem[] => [
  ...wrongColours(theme).map(({ path, message }) => error('invalid_value', path, message)),
  ...lowContrasts(theme).map(({ path, message }) => warning('low_contrast', path, message)),
]

/**
 * The contrast of an accent on a dark page if its theme sets nothing for those. Many brands' colours have less
 * than 3 : 1 there and are seen all the same, and many sites have no dark pages.
 */
const minOfUnprepared = 2

function* contrastsOn(theme: Theme, isDarkPage: boolean) {
  const set = coloursOn(theme, isDarkPage)
  const own = goesWith(set, isDarkPage, luminanceOf)
  const isSet = (name: keyof Colours) => set[name] !== null
  const at = (name: keyof Colours) =>
    isDarkPage && theme.dark?.[name] ? `/dark/${name}` : `/${name}`
  const ofName = (name: keyof Colours) => {
    const colour = set[name] ?? (own && ownColours[own][name])
    return colour === null ? null : luminanceOf(colour)
  }
  const ratioOf = (a: keyof Colours, b: keyof Colours): number => {
    const [one, other] = [ofName(a), ofName(b)]
    return one === null || other === null ? Infinity : contrast(one, other)
  }
  const ofText = ratioOf('text', 'background')
  const page = isDarkPage ? ' on a dark page' : ''
  if ((isSet('text') || isSet('background')) && ofText < minOfText) {
    const message = `Text and background have a contrast of ${ratioText(ofText)}${page}, and reading needs 4.5 : 1: make one of them darker or lighter`
    yield { path: at(isSet('text') ? 'text' : 'background'), message }
  }
  const ofAccent = ratioOf('accent', 'background')
  const isUnprepared = isDarkPage && !theme.dark
  if (isSet('accent') && ofAccent < (isUnprepared ? minOfUnprepared : minOfShapes)) {
    const why = isUnprepared
      ? ', where it can hardly be seen'
      : ', and a button needs 3 : 1 to be seen'
    const remedy =
      isDarkPage && !theme.dark?.accent
        ? 'set dark.accent to a colour for dark pages'
        : 'make one of them darker or lighter'
    const message = `The accent has a contrast of ${ratioText(ofAccent)} with the background${page}${why}: ${remedy}`
    yield { path: at('accent'), message }
  }
}
