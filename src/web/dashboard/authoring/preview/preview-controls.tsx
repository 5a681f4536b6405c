import { Choice } from '../../parts/choice.tsx'
import { Segments } from '../../parts/field.tsx'
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
        legend={words.screen}
        options={screens.map(one => [one, words.screens[one]] as const)}
        value={screenIn(room)}
        onChoose={chosen => (chosenScreen.value = chosen)}
      />
      <Segments
        legend={words.page}
        options={(['light', 'dark'] as const).map(one => [one, words.pages[one]] as const)}
        value={shade}
        onChoose={chosen => chooseDark(chosen === 'dark')}
      />
      <Choice
        label={words.language}
        value={language.value}
        options={tags.map(tag => [tag, languageName(tag)] as const)}
        onChoose={chosen => (language.value = chosen)}
      />
      <Choice
        label={words.direction}
        value={direction.value}
        options={directions.map(one => [one, words.directions[one]] as const)}
        onChoose={chosen => (direction.value = chosen as typeof direction.value)}
      />
    </div>
  )
}
