import type { Signal } from '@preact/signals'
import type { SentAuthorSession } from '../../../../modules/tickets/schema.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Icon } from '../../parts/icon.tsx'

export type Proposal = SentAuthorSession['proposals'][number]
type Candidate = Proposal['candidates'][number]

/** The selector chosen among all that were proposed. */
export interface Chosen {
  proposal: number
  selector: string
}

const grades: Record<Candidate['grade'], string> = { strong: 'Strong', fair: 'Fair', weak: 'Weak' }

const toneOf: Record<Candidate['grade'], Tone> = { strong: 'good', fair: 'neutral', weak: 'warn' }

/** What to consider before a selector is taken. */
const cautions = ({ matchCount, mayNamePerson, weaknesses }: Candidate): string[] => [
  ...(matchCount > 1
    ? [
        'It finds more than one element. Add the element’s text to the step, or choose another selector.',
      ]
    : []),
  ...(mayNamePerson ? ['This selector may contain the name of a person.'] : []),
  ...weaknesses.map(sentence => `${sentence}.`),
]

function Choice({
  candidate,
  isChosen,
  onChoose,
}: {
  candidate: Candidate
  isChosen: boolean
  onChoose: () => void
}) {
  const { selector, grade, matchCount } = candidate
  return (
    <label class="check option-card">
      <input type="radio" name="picked-selector" checked={isChosen} onChange={onChoose} />
      <span class="stack gap-1">
        <code>{selector}</code>
        <span class="row gap-1">
          <Badge tone={toneOf[grade]}>{grades[grade]}</Badge>
          <Badge tone={matchCount === 1 ? 'neutral' : 'warn'}>
            {matchCount === 1 ? '1 match' : `${matchCount} matches`}
          </Badge>
        </span>
        {cautions(candidate).map(sentence => (
          <span key={sentence} class="caution line start">
            <Icon name="warning" size={14} /> {sentence}
          </span>
        ))}
      </span>
    </label>
  )
}

function Picked({ proposal, chosen }: { proposal: Proposal; chosen: Signal<Chosen | null> }) {
  const { number, element, page, candidates, isWrapper, mayNamePerson } = proposal
  const notes = [
    ...(isWrapper
      ? ['This element contains other controls. Use it only if the step is about all of them.']
      : []),
    ...(mayNamePerson
      ? [
          'The element’s text may be the name of a person. A selector with it is sent to every visitor.',
        ]
      : []),
  ]
  return (
    <fieldset class="stack gap-2 min-0">
      <legend>
        <strong>{element}</strong>
      </legend>
      <p class="hint">on {page}</p>
      {notes.map(sentence => (
        <p class="caution line start" key={sentence}>
          <Icon name="warning" /> {sentence}
        </p>
      ))}
      {candidates.map(candidate => (
        <Choice
          key={candidate.selector}
          candidate={candidate}
          isChosen={
            chosen.value?.proposal === number && chosen.value.selector === candidate.selector
          }
          onChoose={() => (chosen.value = { proposal: number, selector: candidate.selector })}
        />
      ))}
    </fieldset>
  )
}

/** The elements that were picked, the latest first, with the selectors that find each. */
export function Proposals({
  proposals,
  chosen,
}: {
  proposals: readonly Proposal[]
  chosen: Signal<Chosen | null>
}) {
  const [latest, ...earlier] = proposals.toReversed()
  return (
    <div class="stack">
      {latest && <Picked key={latest.number} proposal={latest} chosen={chosen} />}
      {earlier.length > 0 && (
        <details>
          <summary>{`Picked before: ${earlier.length}`}</summary>
          {earlier.map(proposal => (
            <Picked key={proposal.number} proposal={proposal} chosen={chosen} />
          ))}
        </details>
      )}
    </div>
  )
}
