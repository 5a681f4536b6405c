import { Segments } from '../../parts/choice.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { languageName } from '../../parts/pickers.tsx'
import { Select } from '../../parts/select.tsx'
import {
  chooseDark,
  chosenScreen,
  direction,
  isDark,
  language,
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
    <div class="row gap-3">
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
      <Menu
        label={
          <>
            <span class="unseen">Language of the page: </span>
            {languageName(language.value)}
            <Icon name="down" />
          </>
        }
      >
        {close => (
          <div class="stack custom-range gap-3">
            <Select
              label="Language"
              value={language.value}
              options={tags.map(tag => [tag, languageName(tag)] as const)}
              onChange={chosen => {
                language.value = chosen
                close()
              }}
            />
            <Select
              label="Direction"
              value={direction.value}
              options={directions}
              onChange={chosen => {
                direction.value = chosen as typeof direction.value
                close()
              }}
            />
          </div>
        )}
      </Menu>
    </div>
  )
}
