import { useSignal } from '@preact/signals'
import { mostInterruptions } from '../../../core/organisation/catalogue.ts'
import type { Settings } from '../../../modules/organisations/model.ts'
import type { Failure } from '../api/failure.ts'
import { throttleWords as words } from '../words/when.ts'
import { OwnSetting, readCount } from './own-setting.tsx'
import { type Changing, save } from './saving.ts'
import { SettingSection } from './setting-section.tsx'

function Throttle({ settings, said }: { settings: Settings } & Changing<never>) {
  const refused = useSignal<Failure | null>(null)
  return (
    <OwnSetting
      field="throttle"
      stored={settings.throttle}
      usual={3}
      words={words}
      read={readCount(words.badNumber, mostInterruptions)}
      refused={refused}
      onSave={async throttle => {
        const saved = await save({ throttle })
        said.value = saved.throttle === null ? words.savedUsual : words.saved(saved.throttle)
      }}
    />
  )
}

/** How often a person may be interrupted in a day. */
export const ThrottleSection = () => (
  <SettingSection why={words.why}>
    {(settings, changing) => <Throttle settings={settings} {...changing} />}
  </SettingSection>
)
