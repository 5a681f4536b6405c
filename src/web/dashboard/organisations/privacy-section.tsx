import { useSignal } from '@preact/signals'
import { manual } from '../api/base.ts'
import { Failure } from '../api/failure.ts'
import { Facts } from '../parts/facts.tsx'
import { Said } from '../parts/said.tsx'
import { Reading } from '../shell/states.tsx'
import { settingsWords } from '../words/settings.ts'
import { save, useChanging, useSettings } from './saving.ts'

const words = settingsWords.privacy

/** What is stored of people, and whose wish not to be counted is heeded. */
export function PrivacySection() {
  const settings = useSettings()
  const { said } = useChanging<never>()
  const problem = useSignal('')
  const isBusy = useSignal(false)
  const change = async (honoursDoNotTrack: boolean) => {
    isBusy.value = true
    problem.value = ''
    try {
      const saved = await save({ honoursDoNotTrack })
      said.value = saved.honoursDoNotTrack ? words.savedOn : words.savedOff
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      problem.value = error.message || settingsWords.notSaved
    } finally {
      isBusy.value = false
    }
  }
  return (
    <>
      <Said of={said} />
      <Reading of={settings}>
        {({ honoursDoNotTrack }) => (
          <label class="check">
            <input
              type="checkbox"
              checked={honoursDoNotTrack}
              disabled={isBusy.value}
              onChange={event => change(event.currentTarget.checked)}
            />
            <span>
              {words.dnt}
              <small>{words.dntWhy}</small>
            </span>
          </label>
        )}
      </Reading>
      <p class="problem" role="alert">
        {problem.value}
      </p>
      <h3>{words.stored}</h3>
      <Facts of={words.facts as readonly (readonly [string, string])[]} />
      <p class="footnote">
        <a href={manual('privacy')}>{words.manual}</a>
      </p>
    </>
  )
}
