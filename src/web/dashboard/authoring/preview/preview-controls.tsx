import { Choice } from '../../parts/choice.tsx'
import { Segments } from '../../parts/field.tsx'
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
        legend="Screen"
        options={screens}
        value={screenIn(room)}
        onChoose={chosen => (chosenScreen.value = chosen)}
      />
      <Segments
        legend="Your page"
        options={pages}
        value={isDark.value ? 'dark' : 'light'}
        onChoose={chosen => chooseDark(chosen === 'dark')}
      />
      <Choice
        label="Language"
        value={language.value}
        options={tags.map(tag => [tag, languageName(tag)] as const)}
        onChoose={chosen => (language.value = chosen)}
      />
      <Choice
        label="Direction"
        value={direction.value}
        options={directions}
        onChoose={chosen => (direction.value = chosen as typeof direction.value)}
      />
    </div>
  )
}
