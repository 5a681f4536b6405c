import { questionTypes, ratingScales } from '../../../core/flow/names.ts'
import type { Question } from '../../../core/flow/question.ts'
import type { Step } from '../../snippet/parts.ts'
import { Group, Select, TextField } from './fields.tsx'
import { IconButton } from './icon.tsx'
import type { Acts } from './state.ts'
import { words } from './words.ts'

const maxChoices = 10

/** A question of each type, as it begins. */
const fresh: Record<Question['type'], Question> = {
  rating: { type: 'rating' },
  text: { type: 'text' },
  choice: {
    type: 'choice',
    choices: [
      { key: 'choice-1', label: 'Yes' },
      { key: 'choice-2', label: 'No' },
    ],
  },
}

/** A key that no choice has. Counts of the answers belong to it. */
function freeKey(taken: readonly string[]): string {
  let count = taken.length + 1
  while (taken.includes(`choice-${count}`)) count++
  return `choice-${count}`
}

/** What the step asks, if it asks something. */
export function QuestionFields({ step: { key, question }, acts }: { step: Step; acts: Acts }) {
  const write = (value: Question | null, isTyped = false) =>
    (isTyped ? acts.type : acts.propose)({
      do: 'set',
      step: key,
      field: 'question',
      value: value as never,
    })
  const choices = question?.choices ?? []
  return (
    <Group title={words.question}>
      <Select
        label={words.kind}
        value={question?.type ?? 'none'}
        options={{ none: words.noQuestion, ...questionTypes }}
        onChange={type => write(type === 'none' ? null : fresh[type])}
      />
      {question?.type === 'rating' && (
        <Select
          label={words.scale}
          value={question.scale ?? 'nps'}
          options={ratingScales}
          onChange={scale => {
            const { min, max, ...rest } = question
            write({ ...rest, scale })
          }}
        />
      )}
      {question?.type === 'choice' &&
        choices.map((choice, i) => (
          <div class="row" key={choice.key}>
            <TextField
              label={words.choice(i + 1)}
              max={200}
              isNeeded
              value={choice.label}
              onType={label =>
                write({ ...question, choices: choices.with(i, { ...choice, label }) }, true)
              }
            />
            {choices.length > 2 && (
              <IconButton
                icon="delete"
                label={`${words.remove}: ${choice.label}`}
                onClick={() => write({ ...question, choices: choices.toSpliced(i, 1) })}
              />
            )}
          </div>
        ))}
      {question?.type === 'choice' && choices.length < maxChoices && (
        <button
          type="button"
          class="plain"
          onClick={() => {
            const added = {
              key: freeKey(choices.map(choice => choice.key)),
              label: words.choice(choices.length + 1),
            }
            write({ ...question, choices: [...choices, added] })
          }}
        >
          {words.addChoice}
        </button>
      )}
      {question && (
        <label class="check">
          <input
            type="checkbox"
            checked={question.required === true}
            onChange={({ currentTarget }) => {
              const { required: _, ...rest } = question
              write(currentTarget.checked ? { ...rest, required: true } : rest)
            }}
          />
          {words.required}
        </label>
      )}
    </Group>
  )
}
