import type { Flow } from '../../../core/flow/flow.ts'
import { directionOf, inLanguage } from '../../../core/flow/texts/language.ts'
import { type Words, wordsFor } from './words.ts'

/** The languages that a visitor wants: what the page says it is in, then what their browser prefers. */
export const languagesOf = ({ document, navigator }: Window, chosen?: string): string[] => [
  ...(chosen ? [chosen] : []),
  ...(document.documentElement.lang ? [document.documentElement.lang] : []),
  ...(navigator.languages ?? []),
]

/** Letters that are written from the right; those of Arabic, Hebrew and their kin. */
const fromTheRight = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/

/** A flow as a visitor reads it. */
export interface Spoken {
  flow: Flow
  /**
   * Gives the root the language of a part of it, or of its heading, and that language's direction.
   *
   * @returns the snippet's own words in that language
   */
  speak(root: HTMLElement, part?: { key: string }): Words
}

export function spoken(source: Flow, page: Window, chosen?: string): Spoken {
  const { flow, languageOf } = inLanguage(source, languagesOf(page, chosen))
  return {
    flow,
    speak(root, part) {
      const language = languageOf(part)
      // A flow that does not say its language is assumed to be in the page's.
      if (language !== null) {
        root.lang = language
        root.dir = directionOf(language)
      }
      // It may be in another all the same. Then each text is read as its first letter is written, but on a
      // card from the right a name in Latin letters may come first.
      const isOwn = root.dir === 'rtl' && fromTheRight.test(JSON.stringify(part ?? flow))
      if (root.dir) root.classList.toggle('plain', !isOwn)
      return wordsFor(page, language ?? chosen)
    },
  }
}
