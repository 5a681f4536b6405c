/**
 * Whether a build or a framework made up a class: it changes with the next build or visit, so
 * nothing lasting can be hung from it. Careful rather than complete: a name that a person could
 * have given (BEM, utilities, camel case) passes.
 */
export function isGeneratedClass(name: string): boolean {
  return isMadeUp(name, classPatterns)
}

/** The same for an id. */
export function isGeneratedId(name: string): boolean {
  return isMadeUp(name, idPatterns)
}

/** No tool makes longer names; some of the patterns take time with the square of the length. */
const mostCharacters = 100

const isMadeUp = (name: string, patterns: readonly RegExp[]) =>
  name.length <= mostCharacters &&
  (patterns.some(pattern => pattern.test(name)) || parts(name).some(isHash))

/** The tools that make such names, by the form that each gives them. */
const classPatterns = [
  // Emotion, and what is built on it (Chakra, MUI): css-1a2b3c, css-1q2w3e-Button.
  /^(?:css|emotion)-(?=[a-z]*\d[a-z\d]*[a-z]|\d)[a-z\d]{5,8}(?:-[\w-]*)?$/,
  // styled-components: sc-bdVaJa, sc-1x2y3z4-0.
  /^sc-(?:(?=[A-Za-z]{5,7}$)[A-Za-z][a-z]*[A-Z][A-Za-z]*|(?=[a-z]*\d[a-z\d]*[a-z]|\d)[a-z\d]{5,9}(?:-\d+)?)$/,
  // CSS modules: Button_root__3xYzQ (Next.js), root_1a2b3_5 and _root_1a2b3_5 (Vite).
  /^[A-Z]\w*_\w+__(?=[\w-]*(?:\d|[a-z][A-Z]))[\w-]{5}$/,
  /^_?[A-Za-z][\w-]*_(?=[a-z]*\d[a-z\d]*[a-z]|\d)[a-z\d]{5}_\d+$/,
  // A name that is only a hash behind an underscore (Vite, vanilla-extract): _1a2b3.
  /^_(?=[a-z]*\d[a-z\d]*[a-z]|\d+[a-z])[a-z\d]{5,10}$/,
  // styled-jsx, goober, Svelte, Astro, React Native for Web, JSS and Material UI 4.
  /^(?:jsx-|go)\d{6,}$/,
  /^(?:svelte|r|astro)-(?=[a-z]*\d[a-z\d]*[a-z]|\d+[a-z])[a-z\d]{5,9}$/i,
  /^jss\d+$/,
  /^(?:makeStyles|withStyles|Mui[A-Z][A-Za-z]*)-[a-z][A-Za-z]*-\d+$/,
  // Angular's animations and its emulated encapsulation.
  /^ng-tns-/,
]

const idPatterns = [
  // React's useId, alone or inside another: :r1:, «r1», _r_1_, radix-:r1:, headlessui-menu-:R2a:.
  /[:«](?:[rR][\da-z]+)(?:H\d+)?[:»]/,
  /(?:^|-)_[rR]_[\da-z]+_(?:$|-)/,
  // Frameworks and widgets that count what they make: ember123, mat-input-0, react-select-2-input.
  /^(?:ember|ext-gen|ext-comp-|yui_|gwt-uid-|__BVID__|ui-id-|uid-|v-)\d+(?:\D|$)/,
  /^(?:radix|headlessui|downshift|react-(?:select|aria|tabs)|mui|mantine|reach|tippy|cdk|mat|rc[-_][a-z]+|select2)[-_](?:[a-z]+[-_])*\d+(?:\D|$)/,
  // A UUID, and a number too long to have been given by hand.
  /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/i,
  /\d{6,}/,
]

/** Between hyphens and underscores, and behind the double ones that end a name and begin a hash. */
const parts = (name: string) => name.split(/[-_]+/).slice(1)

/** A part that reads as a hash: letters and digits, or cases, that keep changing. */
function isHash(part: string): boolean {
  if (!/^[A-Za-z\d]{5,20}$/.test(part)) return false
  const changes = part.match(/(?<=[a-z])[A-Z]|(?<=\d)[A-Za-z]|(?<=[A-Za-z])\d/g)?.length ?? 0
  return /\d/.test(part) ? changes >= 3 : changes >= 2 && changes >= 0.3 * part.length
}
