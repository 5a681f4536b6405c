import type { Path } from '../../../../core/flow/edit/source.ts'
import type { FlowProblem } from '../editor/parts.ts'

/** Where the form shows each problem. */

const url = ['', '/match', '/pattern']
const target = [
  'selector',
  'alternates',
  'text',
  'nth',
  'waitMs',
  'required',
  'onMissing',
  'fingerprint',
]

const themeColours = ['/accent', '/background', '/text']
const theme = [
  ...[
    '',
    '/radius',
    '/preset',
    '/shadow',
    '/density',
    '/zIndex',
    '/logo',
    '/progress',
    '/spotlight',
  ],
  ...[...themeColours, ...themeColours.map(field => `/dark${field}`)],
  ...['/font/family', '/font/size', '/border/color', '/border/width'],
  ...['/launcher/side', '/launcher/label', '/dark/logo'],
]

/** All places of the form that can have a problem; `#` stands for any number. */
const places = new Set([
  ...['/key', '/name', '/title', '/locale', '/texts', '/kind', '/priority', '/frequency'],
  ...theme.map(field => `/theme${field}`),
  '/targeting/urls',
  ...url.map(field => `/targeting/urls/#${field}`),
  ...['/match', '/rules'].map(field => `/targeting/audience${field}`),
  ...['', '/attribute', '/op', '/value'].map(field => `/targeting/audience/rules/#${field}`),
  '/steps',
  ...['', '/key', '/kind', '/title', '/body', '/target', '/buttons'].map(
    field => `/steps/#${field}`,
  ),
  ...url.map(field => `/steps/#/page${field}`),
  ...target.map(field => `/steps/#/target/${field}`),
  ...['side', 'align'].map(field => `/steps/#/placement/${field}`),
  ...['on', 'event'].map(field => `/steps/#/advance/${field}`),
  ...['', '/label', '/action', '/href'].map(field => `/steps/#/buttons/#${field}`),
  '/checklist/order',
  '/checklist/items',
  ...['', '/key', '/title', '/description', '/completeOn/event', '/href'].map(
    field => `/checklist/items/#${field}`,
  ),
])

export const pointerOf = (path: Path): string => path.map(name => `/${name}`).join('')

/** The place where a problem is shown: its field, or the nearest thing around it; empty for the top. */
export function placeOf(pointer: string): string {
  let at = pointer
  while (at !== '' && !places.has(at.replace(/\/\d+(?=\/|$)/g, '/#'))) {
    at = at.slice(0, at.lastIndexOf('/'))
  }
  return at
}

/** The problems by the place where they are shown. */
export function byPlace(problems: readonly FlowProblem[]): ReadonlyMap<string, FlowProblem[]> {
  return Map.groupBy(problems, ({ path }) => placeOf(path))
}

/** The problems anywhere inside these parts. */
export const within = (problems: readonly FlowProblem[], ...parts: string[]): FlowProblem[] =>
  problems.filter(({ path }) =>
    parts.some(part => placeOf(path) === part || placeOf(path).startsWith(`${part}/`)),
  )
