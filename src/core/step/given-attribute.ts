import { isGeneratedId } from './generated-name.ts'

/** Attributes that somebody sets so that an element is found, in the order in which they are proposed. */
const givenNames = [
  /^data-(?:\w+-)*(?:tour|onboarding|walkthrough|guide)(?:-(?:id|key|name|step|target))?$/,
  /^data-action(?:-(?:id|name))?$/,
  /^data-(?:test[\w-]*|(?:cy|qa|pw|e2e|automation)(?:-[\w-]+)?)$/,
]

/** The other ones come last. */
const otherRank = givenNames.length

/** A word, or several: `create`, `new-project`, `nav.settings`, `createButton2`. */
const nameLike = /^[A-Za-z]{2,}(?:[-_.:/][A-Za-z]+)*\d?$/
const maxNameLength = 60

/** What other attributes say of an element that is not its name: its state and looks, its texts, and whose it is. */
const notNaming = new RegExp(
  `^data-(?:${[
    ...['state', 'status', 'mode', 'open', 'closed', 'active', 'selected', 'checked', 'pressed'],
    ...[
      'disabled',
      'loading',
      'focus\\w*',
      'hover\\w*',
      'side',
      'align\\w*',
      'orientation',
      'sort',
    ],
    ...['placement', 'position', 'direction', 'dir', 'lang', 'motion', 'order', 'theme', 'color'],
    ...['variant', 'size', 'slot', 'part', 'value', 'label', 'title', 'content', 'text', 'tooltip'],
    ...['description', 'placeholder', 'href', 'src', 'url', 'target', 'toggle', 'dismiss', 'aria'],
    ...['user\\w*', 'author', 'owner', 'person', 'member', 'customer', 'client', 'contact'],
    ...['email', 'phone', 'account', 'v', 'react\\w*', 'reach', 'radix', 'headlessui', 'rac', 'ng'],
    ...['svelte\\w*', 'astro', 'turbo', 'controller', 'bs', 'mui', 'mantine', 'chakra', 'ark'],
    ...['tippy', 'popper', 'floating', 'framer', 'styled', 'emotion', 'x', 'cairn\\w*'],
  ].join('|')})(?:[-_]|$)`,
)

/** Values that attributes of any name have for a state or a look. */
const stateWords = new Set(
  (
    'true false yes no on off open opened closed active inactive checked unchecked selected enabled ' +
    'disabled loading loaded idle visible hidden expanded collapsed indeterminate pending success ' +
    'error warning info primary secondary default ghost outline light dark auto none horizontal ' +
    'vertical top bottom left right start end center xs sm md lg xl small medium large ltr rtl asc desc'
  ).split(' '),
)

/**
 * How early a `data-*` attribute is proposed to find its element by; null if nobody has set it for that. The
 * lesser comes first.
 */
export function givenRank(name: string, value: string): number | null {
  if (value === '' || value.length > maxNameLength || isGeneratedId(value)) return null
  const rank = givenNames.findIndex(pattern => pattern.test(name))
  if (rank >= 0) return rank
  const isName =
    name.startsWith('data-') &&
    !notNaming.test(name) &&
    nameLike.test(value) &&
    !stateWords.has(value.toLowerCase())
  return isName ? otherRank : null
}
