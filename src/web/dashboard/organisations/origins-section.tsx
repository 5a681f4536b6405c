import { readOrigin } from '../../../core/organisation/origin.ts'
import { settingsWords } from '../words/settings.ts'
import { Entries, ListSetting } from './list-setting.tsx'
import { SettingSection } from './setting-section.tsx'

const words = settingsWords.origins

const listed = (text: string) =>
  text
    .split(/[\s,]+/)
    .map(origin => origin.trim())
    .filter(Boolean)

function faultOf(origin: string): string | null {
  const read = readOrigin(origin)
  return 'fault' in read ? read.fault : null
}

/** What a change means. */
function Consequence({ before, after }: { before: readonly string[]; after: readonly string[] }) {
  const closed = before.filter(origin => !after.includes(origin))
  if (after.length === 0) return <p>{words.opens}</p>
  return (
    <>
      {closed.length > 0 && <p>{words.closes(closed.join(', '))}</p>}
      <Entries of={after} />
    </>
  )
}

/** The origins where the snippet may run. */
export const OriginsSection = () => (
  <SettingSection<readonly string[]> why={words.why}>
    {({ origins }, changing) => (
      <ListSetting
        {...changing}
        field="origins"
        stored={origins}
        words={words}
        listed={listed}
        faultOf={faultOf}
        none={words.any}
        consequence={after => <Consequence before={origins} after={after} />}
      />
    )}
  </SettingSection>
)
