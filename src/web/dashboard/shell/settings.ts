import { effect, signal } from '@preact/signals'

/** What somebody has chosen for this browser. Nothing here says who they are. */

/** A choice by its name; null if none was made. */
export const stored = (name: string): string | null => {
  try {
    return localStorage.getItem(`cairn-${name}`)
  } catch {
    return null
  }
}

/** Keeps a choice in this browser; null forgets it. */
export const storeSetting = (name: string, value: string | null): void => {
  try {
    if (value === null) localStorage.removeItem(`cairn-${name}`)
    else localStorage.setItem(`cairn-${name}`, value)
  } catch {
    // If nothing may be stored, the choice holds until the page is left.
  }
}

export const appearances = ['system', 'light', 'dark'] as const
export type Appearance = (typeof appearances)[number]

const known = appearances.find(name => name === stored('appearance'))
export const appearance = signal<Appearance>(known ?? 'system')

/** Whether single letters are shortcuts (WCAG 2.1.4). */
export const hasLetters = signal(stored('letters') !== 'off')

effect(() => {
  const chosen = appearance.value
  if (chosen === 'system') delete document.documentElement.dataset.appearance
  else document.documentElement.dataset.appearance = chosen
  storeSetting('appearance', chosen === 'system' ? null : chosen)
})

effect(() => storeSetting('letters', hasLetters.value ? null : 'off'))
