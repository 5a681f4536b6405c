/**
 * Whether a class says how an element looks, as those of Tailwind and Bootstrap do: many elements
 * have it, and the next change of the design takes it away. Careful rather than complete: a name
 * that could be an element's own (`grid`, `card`, `nav-1`) passes.
 */
export function isUtilityClass(name: string): boolean {
  // Before the colons it says when: md:mt-4, hover:bg-red-500, dark:md:p-2.
  const bare = name.slice(name.lastIndexOf(':') + 1).replace(/^[!-]/, '')
  return patterns.some(pattern => pattern.test(bare))
}

const patterns = [
  // Room and size: mt-4, px-2.5, -mx-1, w-full, h-1/2, gap-x-3, space-y-4, p-[3px].
  /^(?:[mp][trblxyse]?|[wh]|(?:min|max)-[wh]|gap(?:-[xy])?|space-[xy]|inset(?:-[xy])?)-(?:\d+(?:\.5)?|\d+\/\d+|px|auto|full|screen|\[.+\])$/,
  // Layout: items-center, justify-between, flex-col, grid-cols-3, col-span-2, d-flex.
  /^(?:items|justify|content|self|place-items)-(?:start|end|center|between|around|evenly|stretch|baseline)$/,
  /^(?:flex-(?:row|col|column|wrap|nowrap|1)|(?:grid-cols|col-span|row-span|order|z|opacity)-\d+|inline-(?:flex|block)|d-(?:flex|block|none|grid|inline))$/,
  // Look: text-sm, text-gray-500, bg-white, font-bold, rounded-lg, shadow-md.
  /^text-(?:xs|sm|base|lg|\d?xl|left|center|right|white|black)$/,
  /^(?:text|bg|border)-[a-z]+-\d{2,3}$/,
  /^(?:bg-(?:white|black)|font-(?:bold|medium|semibold|normal|light)|(?:rounded|shadow)-(?:sm|md|lg|\d?xl|full))$/,
]
