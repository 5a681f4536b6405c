import type { Target } from '../../../../../core/flow/flow.ts'
import { make } from '../../../../snippet/stage/make.ts'
import { pageStyles } from './page-styles.ts'

/** The places on a page where the element that a step points at may be. */
const places = ['action', 'entry', 'card', 'menu', 'search', 'row', 'field'] as const
type Place = (typeof places)[number]

/** Guesses about the element from its selector, the surest first. */
const guesses: readonly (readonly [RegExp, Place])[] = [
  [/search|filter/i, 'search'],
  [/side|nav|\bli\b/i, 'entry'],
  [/help|avatar|profile|account|menu|settings|header|bell/i, 'menu'],
  [/input|textarea|select|field|address|email|name\b/i, 'field'],
  [/card|tile|panel|chart/i, 'card'],
  [/row|table|\btd\b|\btr\b|list|item/i, 'row'],
  [/button|btn|new|add|create|save/i, 'action'],
]

const block = (name: string) => make(window, 'div', `block ${name}`)
const blocks = (name: string, count: number) => Array.from({ length: count }, () => block(name))

/** A page of grey blocks, some of which stand in for what steps point at. */
export function createMockPage() {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(pageStyles)
  document.adoptedStyleSheets = [sheet]
  const part = (name: string, ...children: Node[]) => make(window, 'div', name, {}, ...children)
  document.body.append(
    part(
      'app',
      part('top', block('logo'), block('search'), block('menu')),
      part('side', ...blocks('entry', 5)),
      make(
        window,
        'main',
        'main',
        {},
        part('head', make(window, 'h1', 'block title', {}, 'Your page'), block('action')),
        part('cards', ...blocks('card', 3)),
        block('field'),
        part('rows', ...blocks('row', 4)),
      ),
    ),
  )

  const defaultAt = (place: Place) =>
    [...document.querySelectorAll(`.${place}`)].at(place === 'entry' ? 1 : 0)!
  const usual = Object.fromEntries(places.map(place => [place, defaultAt(place)]))
  let standIn: Element | null = null
  let replaced: Element | null = null

  const clear = () => {
    if (replaced) standIn?.replaceWith(replaced)
    standIn = replaced = null
  }

  return {
    clear,
    /** The block that stands in for the element of a step, by the place of the step. */
    standInFor({ selector, text }: Target, at: number, isPressed: boolean): Element {
      const place =
        guesses.find(([hint]) => hint.test(selector))?.[1] ?? places[at % places.length]!
      const label = text ?? ''
      const isSame = replaced === usual[place] && standIn?.textContent === label
      if (isSame && (standIn?.localName === 'button') === isPressed) return standIn!
      clear()
      replaced = usual[place]!
      standIn = make(
        window,
        isPressed ? 'button' : 'div',
        `${replaced.className} stand-in`,
        {},
        label,
      )
      // A step that goes on with a click can be used by keyboard, too.
      if (isPressed && !label) standIn.setAttribute('aria-label', selector)
      replaced.replaceWith(standIn)
      return standIn
    },
  }
}

export type MockPage = ReturnType<typeof createMockPage>
