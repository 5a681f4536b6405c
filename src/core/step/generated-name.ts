/**
 * Whether a build or a framework generated a class. Such a name changes with the next build or visit, so
 * nothing lasting can depend on it. Cautious rather than complete: a name that a person could have chosen
 * (BEM, utilities, camel case) passes.
 */
export function isGeneratedClass(name: string): boolean {
  return isMadeUp(name, classPatterns)
}

/** The same for an id. */
export function isGeneratedId(name: string): boolean {
  return isMadeUp(name, idPatterns)
}

/**
 * The id if an author chose it; undefined if there is none, or if a library generated it. Only certain
 * cases count as generated: an id that contains an order's number does identify an element.
 */
export function authoredId(id: string | undefined): string | undefined {
  return id !== undefined && libraryIds.some(pattern => pattern.test(id)) ? undefined : id
}

/** No tool makes longer names, and some of the patterns take time quadratic in the length. */
const maxCharacters = 100

const isMadeUp = (name: string, patterns: readonly RegExp[]) =>
  name.length <= maxCharacters &&
  (patterns.some(pattern => pattern.test(name)) || parts(name).some(isHash))

/** The tools that make such names, by the form of their names. */
const classPatterns = [
  // Emotion, and what is built on it (Chakra, MUI): css-1a2b3c, css-1q2w3e-Button.
  /^(?:css|emotion)-(?=[a-z]*\d[a-z\d]*[a-z]|\d)[a-z\d]{5,8}(?:-[\w-]*)?$/,
  // styled-components: sc-bdVaJa, sc-1x2y3z4-0.
  /^sc-(?:(?=[A-Za-z]{5,7}$)[A-Za-z][a-z]*[A-Z][A-Za-z]*|(?=[a-z]*\d[a-z\d]*[a-z]|\d)[a-z\d]{5,9}(?:-\d+)?)$/,
  // CSS modules: Button_root__3xYzQ (Next.js), root_1a2b3_5 and _root_1a2b3_5 (Vite).
  /^[A-Z]\w*_\w+__(?=[\w-]*(?:\d|[a-z][A-Z]))[\w-]{5}$/,
  /^_?[A-Za-z][\w-]*_(?=[a-z]*\d[a-z\d]*[a-z]|\d)[a-z\d]{5}_\d+$/,
  // A name that is only a hash after an underscore (Vite, vanilla-extract): _1a2b3.
  /^_(?=[a-z]*\d[a-z\d]*[a-z]|\d+[a-z])[a-z\d]{5,10}$/,
  // styled-jsx, goober, Svelte, Astro, React Native for Web, JSS and Material UI 4.
  /^(?:jsx-|go)\d{6,}$/,
  /^(?:svelte|r|astro)-(?=[a-z]*\d[a-z\d]*[a-z]|\d+[a-z])[a-z\d]{5,9}$/i,
  /^jss\d+$/,
  /^(?:makeStyles|withStyles|Mui[A-Z][A-Za-z]*)-[a-z][A-Za-z]*-\d+$/,
  // Angular's animations and its emulated encapsulation.
  /^ng-tns-/,
]

/**
 * Ids that a library counts or draws at every rendering, so that the next page view has different ones.
 * Each pattern is one library's documented or well-known form. Time is bounded by the length.
 */
const libraryIds: readonly RegExp[] = [
  // React's useId (:r1:, «r1», _r_1_), also within ids of libraries that are built on it (radix-:r1:).
  /:[rR]\w*:|«[rR]\w*»|(?:^|-)_[rR]_\w+_/,
  // Vue's useId, Ember, Ext JS, YUI, GWT, BootstrapVue, jQuery UI.
  /^(?:v[-:]|ember|ext-(?:gen|comp-)|yui_|gwt-uid-|__BVID__|ui-id-|uid-)\d/,
  // Ids of components: a name, perhaps of several parts, and a number (mat-input-0, react-select-2-input).
  /^(?:radix|headlessui|downshift|react-(?:select|aria|tabs)|mui|mantine|reach|tippy|mat|cdk|ng|rc[-_][a-z]+|select2)(?:[-_]|(?=\d))(?:[a-z]+[-_])*\d/,
  // A UUID (RFC 9562), alone or after a prefix.
  /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/i,
]

/** Also a number that is too long to have been chosen by hand. */
const idPatterns = [...libraryIds, /\d{6,}/]

/** The parts between hyphens and underscores, and after the double ones that separate a name from a hash. */
const parts = (name: string) => name.split(/[-_]+/).slice(1)

/** A part that looks like a hash: letters and digits, or upper and lower case, keep alternating. */
function isHash(part: string): boolean {
  if (!/^[A-Za-z\d]{5,20}$/.test(part)) return false
  const changes = part.match(/(?<=[a-z])[A-Z]|(?<=\d)[A-Za-z]|(?<=[A-Za-z])\d/g)?.length ?? 0
  return /\d/.test(part) ? changes >= 3 : changes >= 2 && changes >= 0.3 * part.length
}
