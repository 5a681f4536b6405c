import { maxRetentionDays } from '../../../core/organisation/catalogue.ts'
import { Confirm } from '../parts/confirm.tsx'
import { settingsWords } from '../words/settings.ts'
import { OwnSetting, readCount } from './own-setting.tsx'
import { save } from './saving.ts'
import { SettingSection } from './setting-section.tsx'

const words = settingsWords.retention

/** The requested number of days; null for the server's. */
interface Asked {
  days: number | null
}

/** How long raw events are kept. */
export const RetentionSection = () => (
  <SettingSection<Asked> why={words.why}>
    {({ retentionDays: stored }, { said, asked }) => (
      <OwnSetting
        field="retentionDays"
        stored={stored}
        usual={30}
        words={words}
        read={readCount(words.badNumber, maxRetentionDays)}
        onSave={days => {
          asked.value = { days }
        }}
      >
        {refused =>
          asked.value && (
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
                asked.value = null
              }}
              onClose={() => (asked.value = null)}
            >
              <p>
                {stored !== null && (asked.value.days ?? 0) > stored ? words.longer : words.shorter}
              </p>
            </Confirm>
          )
        }
      </OwnSetting>
    )}
  </SettingSection>
)
