import { useSignal } from '@preact/signals'
import { longestRetentionDays } from '../../../core/organisation/catalogue.ts'
import type { Settings } from '../../../modules/organisations/model.ts'
import type { Failure } from '../api/failure.ts'
import { Confirm } from '../parts/confirm.tsx'
import { settingsWords } from '../words/settings.ts'
import { OwnSetting, readCount } from './own-setting.tsx'
import { type Changing, save } from './saving.ts'
import { SettingSection } from './setting-section.tsx'

const words = settingsWords.retention

/** The requested number of days; null for the server's. */
interface Asked {
  days: number | null
}

function Retention({ settings, said, asked }: { settings: Settings } & Changing<Asked>) {
  const stored = settings.retentionDays
  const refused = useSignal<Failure | null>(null)
  const close = () => {
    asked.value = null
  }
  return (
    <OwnSetting
      field="retentionDays"
      stored={stored}
      usual={30}
      words={words}
      read={readCount(words.badNumber, longestRetentionDays)}
      refused={refused}
      onSave={days => {
        asked.value = { days }
      }}
    >
      {asked.value && (
        <Confirm
          title={words.title}
          verb={words.change}
          isDanger
          act={async () => {
            const { retentionDays } = await save({ retentionDays: asked.value!.days })
            said.value = retentionDays === null ? words.savedUsual : words.saved(retentionDays)
          }}
          onRefused={failure => {
            if (failure.status !== 422) return
            refused.value = failure
            close()
          }}
          onClose={close}
        >
          <p>
            {stored !== null && (asked.value.days ?? 0) > stored ? words.longer : words.shorter}
          </p>
        </Confirm>
      )}
    </OwnSetting>
  )
}

/** How long raw events are kept. */
export const RetentionSection = () => (
  <SettingSection<Asked> why={words.why}>
    {(settings, changing) => <Retention settings={settings} {...changing} />}
  </SettingSection>
)
