import { useState } from 'preact/hooks'
import { takenOf } from '../../../core/step/candidate.ts'
import { words as pickWords } from '../words.ts'
import type { Acts, State } from './state.ts'
import { words } from './words.ts'

/** An element of which it is not clear how it is found, or whether it is meant: the author decides. */
export function PickedElement({
  picked: { named, candidates, isWrapper, mayNamePerson, for: what },
  acts,
}: {
  picked: NonNullable<State['picked']>
  acts: Acts
}) {
  const [chosen, choose] = useState<string | null>(null)
  const isPersonal = mayNamePerson || candidates.some(one => one.mayNamePerson)
  return (
    <section class="panel" aria-label={words.choose}>
      <header>
        <h2>{named}</h2>
      </header>
      {isWrapper && <p class="warning">{words.wrapper}</p>}
      {isPersonal && <p class="warning">{words.person}</p>}
      {candidates.length === 0 ? (
        <p>{words.nothing}</p>
      ) : (
        <fieldset>
          <legend>{words.candidates}</legend>
          {candidates.map(({ selector, grade, matchCount }) => (
            <label class="candidate" key={selector}>
              <input
                type="radio"
                name="selector"
                checked={chosen === selector}
                onChange={() => choose(selector)}
              />
              <span>
                <code>{selector}</code>
                <span class="facts">
                  <span class={`grade ${grade}`}>{pickWords.grades[grade]}</span>
                  <span>{pickWords.matches(matchCount)}</span>
                </span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
      <div class="end">
        <button type="button" class="plain" onClick={() => acts.pick(what)}>
          {words.pick}
        </button>
        <button type="button" class="plain" onClick={acts.stopPicking}>
          {words.cancel}
        </button>
        <button
          type="button"
          class="primary"
          disabled={chosen === null}
          onClick={() => acts.use(takenOf(candidates, chosen!))}
        >
          {words.use}
        </button>
      </div>
    </section>
  )
}
