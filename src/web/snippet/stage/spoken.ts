import { directionOf, inLanguage } from '../../../core/flow/texts/language.ts'
import type { Flow } from '../parts.ts'
import { type Words, wordsFor } from './words.ts'

/** The languages that a visitor wants: what the page says it is in, then what their browser prefers. */
export const languagesOf = ({ document, navigator }: Window, chosen?: string): string[] => [
  ...(chosen ? [chosen] : []),
  ...(document.documentElement.lang ? [document.documentElement.lang] : []),
  ...(navigator.languages ?? []),
]

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

export function spoken(told: Flow, page: Window, chosen?: string): Spoken {
  const { flow, languageOf } = inLanguage(told, languagesOf(page, chosen))
  return {
    flow,
    speak(root, part) {
      const language = languageOf(part)
      // A flow that does not say its language is assumed to be in the page's.
      if (language !== null) {
        root.lang = language
        root.dir = directionOf(language)
      }
      return wordsFor(page, language ?? chosen)
    },
  }
}
