import { Segments } from '../../parts/choice.tsx'
import { Select } from '../../parts/select.tsx'
import {
  chooseDark,
  chosenScreen,
  direction,
  isDark,
  language,
  languageName,
  languages,
  screenIn,
} from './appearance.ts'

const screens = [
  ['desktop', 'Desktop'],
  ['phone', 'Phone'],
] as const

const pages = [
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const

const directions = [
  ['auto', 'By language'],
  ['ltr', 'Left to right'],
  ['rtl', 'Right to left'],
] as const

/** The page on which the flow is previewed: its width, colours, language and direction. */
export function PreviewControls({ room, locales }: { room: number; locales: readonly string[] }) {
  const tags = [...new Set([...locales, ...languages.value])]
  return (
    <div class="preview-controls">
      <Segments
        label="Screen"
        options={screens}
        value={screenIn(room)}
        onChange={chosen => (chosenScreen.value = chosen)}
      />
      <Segments
        label="Your page"
        options={pages}
        value={isDark.value ? 'dark' : 'light'}
        onChange={chosen => chooseDark(chosen === 'dark')}
      />
      <Select
        isInline
        label="Language"
        value={language.value}
        options={tags.map(tag => [tag, languageName(tag)] as const)}
        onChange={chosen => (language.value = chosen)}
      />
      <Select
        isInline
        label="Direction"
        value={direction.value}
        options={directions}
        onChange={chosen => (direction.value = chosen as typeof direction.value)}
      />
    </div>
  )
}
