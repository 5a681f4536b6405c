import { computed, signal } from '@preact/signals'
import { directionOf } from '../../../../core/flow/texts/language.ts'
import { appearance } from '../../shell/settings.ts'
import type { Look } from './messages.ts'

/** The appearance of previews. A choice made for one holds for the next, until the page is left. */

type Screen = 'desktop' | 'phone'
export const chosenScreen = signal<Screen | null>(null)
/** With less room than this, as on a phone, the preview shows a phone's screen. */
const narrowPx = 440
export const screenIn = (room: number): Screen =>
  chosenScreen.value ?? (room < narrowPx ? 'phone' : 'desktop')

/** Null until something is chosen; until then, previews are as dark or light as the dashboard. */
const chosenDark = signal<boolean | null>(null)
const darkness = matchMedia('(prefers-color-scheme: dark)')
const prefersDark = signal(darkness.matches)
darkness.addEventListener('change', () => {
  prefersDark.value = darkness.matches
})
const isDashboardDark = computed(() =>
  appearance.value === 'system' ? prefersDark.value : appearance.value === 'dark',
)
export const isDark = computed(() => chosenDark.value ?? isDashboardDark.value)
export const chooseDark = (is: boolean) => {
  chosenDark.value = is
}

export const direction = signal<'auto' | 'ltr' | 'rtl'>('auto')

const names = new Intl.DisplayNames('en', { type: 'language' })

/** The name of a language; the tag itself if it names no language. */
export function languageName(tag: string): string {
  try {
    return names.of(tag) ?? tag
  } catch {
    return tag
  }
}

export const language = signal('en')
/** The languages in which the snippet has words of its own. */
export const languages = signal<readonly string[]>(['en'])

export const look = computed<Look>(() => ({
  isDark: isDark.value,
  language: language.value,
  direction: direction.value === 'auto' ? directionOf(language.value) : direction.value,
}))

/** The size of a visitor's window, CSS pixels. A desktop's is as wide as there is room. */
export const sizeIn = (room: number) =>
  screenIn(room) === 'phone'
    ? { width: 390, height: 700 }
    : { width: Math.max(room, 720), height: 560 }
