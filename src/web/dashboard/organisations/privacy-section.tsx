import { manual } from '../api/base.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Facts } from '../parts/facts.tsx'
import { StatusMessage } from '../parts/status-message.tsx'
import { Reading } from '../shell/states.tsx'
import { settingsWords } from '../words/settings.ts'
import { save, useChanging, useSettings } from './saving.ts'

const words = settingsWords.privacy

/** What is stored about people, and whose wish not to be counted is respected. */
export function PrivacySection() {
  const settings = useSettings()
  const { said, asked } = useChanging<boolean>()
  const close = () => (asked.value = null)
  return (
    <>
      <StatusMessage of={said} />
      <h3>{words.dnt}</h3>
      <Reading of={settings} lines={2}>
        {({ honoursDoNotTrack }) => (
          <>
            <p>
              <Badge tone={honoursDoNotTrack ? 'good' : 'neutral'}>
                {honoursDoNotTrack ? words.on : words.off}
              </Badge>{' '}
              {honoursDoNotTrack ? words.onWhy : words.offWhy}
            </p>
            <div class="row-actions">
              <Button onClick={() => (asked.value = !honoursDoNotTrack)}>
                {honoursDoNotTrack ? words.stop : words.begin}
              </Button>
            </div>
          </>
        )}
      </Reading>
      <h3>{words.stored}</h3>
      <Facts of={words.facts as readonly (readonly [string, string])[]} />
      <p class="footnote">
        <a href={manual('privacy')}>{words.manual}</a>
      </p>
      {asked.value !== null && (
        <Confirm
          title={words.dnt}
          verb={asked.value ? words.beginVerb : words.stopVerb}
          act={async () => {
            const { honoursDoNotTrack } = await save({ honoursDoNotTrack: asked.value! })
            said.value = honoursDoNotTrack ? words.savedOn : words.savedOff
          }}
          onClose={close}
        >
          <p>{asked.value ? words.onWhy : words.stopWhy}</p>
        </Confirm>
      )}
    </>
  )
}
