import { maxInterruptions } from '../../../core/organisation/catalogue.ts'
import { throttleWords as words } from '../words/when.ts'
import { OwnSetting, readCount } from './own-setting.tsx'
import { save } from './saving.ts'
import { SettingSection } from './setting-section.tsx'

/** How often a person may be interrupted in a day. */
export const ThrottleSection = () => (
  <SettingSection why={words.why}>
    {({ throttle: stored }, { said }) => (
      <OwnSetting
        field="throttle"
        stored={stored}
        usual={3}
        words={words}
        read={readCount(words.badNumber, maxInterruptions)}
        onSave={async wanted => {
          const { throttle } = await save({ throttle: wanted })
          said.value = throttle === null ? words.savedUsual : words.saved(throttle)
        }}
      />
    )}
  </SettingSection>
)
