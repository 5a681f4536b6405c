import { isGeneratedId } from '../../../core/step/generated-name.ts'
import { givenRank } from '../../../core/step/given-attribute.ts'

export const byAttribute = (name: string, value: string) =>
  `[${name}="${value.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\a ')}"]`

/** Selectors by the attributes that somebody has set so that the element is found, the best first. */
export const givenSelectors = (element: Element): string[] =>
  [...element.attributes]
    .flatMap(({ name, value }) => {
      const rank = givenRank(name, value)
      return rank === null ? [] : [{ rank, selector: byAttribute(name, value) }]
    })
    .sort((a, b) => a.rank - b.rank)
    .map(({ selector }) => selector)

export const idSelector = ({ id }: Element): string | null =>
  id && !isGeneratedId(id) ? `#${CSS.escape(id)}` : null

/**
 * Selectors by what was set on the element itself by hand, the most lasting first. None contains a text that
 * people read, which may be about one of them.
 */
export function* ownSelectors(element: Element): Generator<string> {
  yield* givenSelectors(element)
  const byId = idSelector(element)
  if (byId !== null) yield byId
  const name = element.getAttribute('name')
  if (name) yield CSS.escape(element.localName) + byAttribute('name', name)
}
