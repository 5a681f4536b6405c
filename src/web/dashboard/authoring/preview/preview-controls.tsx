import { Segments } from '../../parts/choice.tsx'
import { Select } from '../../parts/select.tsx'
import { previewWords as words } from '../../words/preview.ts'
import {
  chooseDark,
  chosenScreen,
  direction,
  directions,
  isDark,
  language,
  languageName,
  languages,
  screenIn,
  screens,
} from './looks.ts'

/** The page on which the flow is previewed: its width, colours, language and direction. */
export function PreviewControls({ room, locales }: { room: number; locales: readonly string[] }) {
  const tags = [...new Set([...locales, ...languages.value])]
  const shade = isDark.value ? 'dark' : 'light'
  return (
    <div class="preview-controls">
      <Segments
        label={words.screen}
        options={screens.map(one => [one, words.screens[one]] as const)}
        value={screenIn(room)}
        onChange={chosen => (chosenScreen.value = chosen)}
      />
      <Segments
        label={words.page}
        options={(['light', 'dark'] as const).map(one => [one, words.pages[one]] as const)}
        value={shade}
        onChange={chosen => chooseDark(chosen === 'dark')}
      />
      <Select
        isInline
        label={words.language}
        value={language.value}
        options={tags.map(tag => [tag, languageName(tag)] as const)}
        onChange={chosen => (language.value = chosen)}
      />
      <Select
        isInline
        label={words.direction}
        value={direction.value}
        options={directions.map(one => [one, words.directions[one]] as const)}
        onChange={chosen => (direction.value = chosen as typeof direction.value)}
      />
    </div>
  )
}
